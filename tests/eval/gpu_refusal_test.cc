// Models that the GPU's fused kernels do not run, and what a user is told.
#include <gtest/gtest.h>

#include "gpu/refusal.h"

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
  EXPECT_EQ(gpu_refuses(resolved(config)), "they do not apply all that the encoding transformer-xl states");
  config = {};
  config.norm = "none";
  EXPECT_EQ(gpu_refuses(resolved(config)), "they do not run --norm none");
  config = {};
  config.head_dim = 136;
  EXPECT_EQ(gpu_refuses(resolved(config)), "they want a --head-dim that is a multiple of 8 up to 128, not 136");
  config.head_dim = 12;
  EXPECT_EQ(gpu_refuses(resolved(config)), "they want a --head-dim that is a multiple of 8 up to 128, not 12");
  config = {};
  config.width = 8196;
  config.head_dim = 64;
  EXPECT_EQ(gpu_refuses(resolved(config)), "they want a --width that is a multiple of 4 up to 8192, not 8196");
  config.width = 126;
  EXPECT_EQ(gpu_refuses(resolved(config)), "they want a --width that is a multiple of 4 up to 8192, not 126");
  config = {};
  config.ff_width = 100;
  EXPECT_EQ(gpu_refuses(resolved(config)), "they want an --ff-width that is a multiple of 8, not 100");
  EXPECT_EQ(gpu_refuses(resolved({}), 70000), "they take a --batch-size of at most 65527, not 70000");
}

TEST(GpuRefusal, OfLongSequencesHoldsForTablesThatLearn) {
  for (const char* encoding : {"nope", "t5", "alibi", "rope", "sinusoidal", "learned", "alibi-learned"}) {
    ModelConfig config;
    config.encoding = encoding;
    const bool learns = config.encoding == "t5" || config.encoding == "alibi-learned";
    EXPECT_EQ(gpu_refuses(resolved(config), 64, 8192), "") << encoding;
    EXPECT_EQ(
        gpu_refuses(resolved(config), 64, 8193),
        learns ? fmt::format("with them the encoding {} learns from sequences of up to 8192 tokens, not 8193", encoding)
               : "");
  }
}

TEST(GpuRefusal, IsANoteOnTheGpuAlone) {
  EXPECT_EQ(plain_note("cuda", ""), "");
  EXPECT_EQ(plain_note("cpu", "it is too wide"), "");
  EXPECT_EQ(plain_note("cuda", "it is too wide"),
            "by plain tensor operations, slower than the GPU's fused kernels: it is too wide");
}

}  // namespace
}  // namespace lengthwise
