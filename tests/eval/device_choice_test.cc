// Models that the GPU's kernels do not run: on the CPU where nobody insists, in one line where somebody does.
#include "eval/device_choice.h"

#include <gtest/gtest.h>

#include "gpu/refusal.h"
#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

ModelConfig resolved(ModelConfig config) {
  return resolve(config, 20);
}

TEST(GpuRefusal, LetsThePresetsThroughWithEveryFusedEncoding) {
  for (const char* model : {"tiny", "small", "base"}) {
    for (const char* encoding : {"nope", "t5", "alibi", "rope", "sinusoidal", "learned", "alibi-learned"}) {
      ModelConfig config;
      config.model = model;
      config.encoding = encoding;
      EXPECT_EQ(gpu_refuses(resolved(config), 64), "") << model << " " << encoding;
    }
  }
}

TEST(GpuRefusal, NamesWhatTheKernelsDoNotRun) {
  ModelConfig config;
  config.encoding = "transformer-xl";
  EXPECT_EQ(gpu_refuses(resolved(config)),
            "the encoding transformer-xl does not run on a GPU, only tables of biases, rotations and additions do");
  config = {};
  config.head_dim = 136;
  EXPECT_EQ(gpu_refuses(resolved(config)), "on a GPU --head-dim is a multiple of 8 up to 128, not 136");
  config.head_dim = 12;
  EXPECT_EQ(gpu_refuses(resolved(config)), "on a GPU --head-dim is a multiple of 8 up to 128, not 12");
  config = {};
  config.width = 8196;
  config.head_dim = 64;
  EXPECT_EQ(gpu_refuses(resolved(config)), "on a GPU --width is a multiple of 4 up to 8192, not 8196");
  config.width = 126;
  EXPECT_EQ(gpu_refuses(resolved(config)), "on a GPU --width is a multiple of 4 up to 8192, not 126");
  config = {};
  config.ff_width = 100;
  EXPECT_EQ(gpu_refuses(resolved(config)), "on a GPU --ff-width is a multiple of 8, not 100");
  EXPECT_EQ(gpu_refuses(resolved({}), 70000), "on a GPU --batch-size is at most 65527, not 70000");
}

TEST(GpuRefusal, OfLongSequencesHoldsForTablesThatLearn) {
  for (const char* encoding : {"nope", "t5", "alibi", "rope", "sinusoidal", "learned", "alibi-learned"}) {
    ModelConfig config;
    config.encoding = encoding;
    const bool learns = config.encoding == "t5" || config.encoding == "alibi-learned";
    EXPECT_EQ(gpu_refuses(resolved(config), 64, 8192), "") << encoding;
    EXPECT_EQ(
        gpu_refuses(resolved(config), 64, 8193),
        learns ? fmt::format("on a GPU the encoding {} learns from sequences of up to 8192 tokens, not 8193", encoding)
               : "");
  }
}

TEST(DeviceChoice, FallsBackOnlyWhereNobodyInsists) {
  EXPECT_EQ(choose_device("auto", "cuda", "").device, "cuda");
  EXPECT_EQ(choose_device("auto", "cuda", "").note, "");
  EXPECT_EQ(choose_device("auto", "cpu", "it is too wide").device, "cpu");
  EXPECT_EQ(choose_device("auto", "cpu", "it is too wide").note, "") << "there is no GPU to speak of";
  EXPECT_EQ(choose_device("cpu", "cpu", "it is too wide").note, "");
  EXPECT_EQ(choose_device("auto", "cuda", "it is too wide").device, "cpu");
  EXPECT_EQ(choose_device("auto", "cuda", "it is too wide").note, "on the CPU, not the GPU: it is too wide");
  EXPECT_EQ(mistake_of([] { choose_device("cuda", "cuda", "it is too wide"); }),
            "--device cuda: it is too wide; --device cpu runs it");
}

}  // namespace
}  // namespace lengthwise
