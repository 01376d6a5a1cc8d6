#include "gpu/refusal.h"

#include "gpu_kernels/limits.h"
#include "model/decoder.h"

namespace lengthwise {

std::string gpu_refuses(const ModelConfig& model, int64_t batch_size, int64_t longest) {
  if (model.norm != "rms") return fmt::format("a model with --norm {} does not run on a GPU", model.norm);
  if (!runs_fused(model, at::kCUDA)) {
    return fmt::format("the encoding {} does not run on a GPU, only tables of biases, rotations and additions do",
                       model.encoding);
  }
  if (!gpu::runs_head(model.head_dim)) {
    return fmt::format("on a GPU --head-dim is a multiple of {} up to {}, not {}", gpu::kHeadStep, gpu::kMostHeadDim,
                       model.head_dim);
  }
  if (!gpu::runs_width(model.width)) {
    return fmt::format("on a GPU --width is a multiple of {} up to {}, not {}", gpu::kWidthStep, gpu::kMostWidth,
                       model.width);
  }
  if (model.ff_width % gpu::kHiddenStep != 0) {
    return fmt::format("on a GPU --ff-width is a multiple of {}, not {}", gpu::kHiddenStep, model.ff_width);
  }
  if (batch_size > gpu::kMostSequences) {
    return fmt::format("on a GPU --batch-size is at most {}, not {}", gpu::kMostSequences, batch_size);
  }
  if (longest > gpu::kMostLearningDistances && (kinds_of(model) & kLearnedTable) != 0) {
    return fmt::format("on a GPU the encoding {} learns from sequences of up to {} tokens, not {}", model.encoding,
                       gpu::kMostLearningDistances, longest);
  }
  return "";
}

}  // namespace lengthwise
