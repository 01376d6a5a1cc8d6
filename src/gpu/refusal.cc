#include "gpu/refusal.h"

#include "gpu_kernels/limits.h"
#include "model/decoder.h"

namespace lengthwise {

std::string gpu_refuses(const ModelConfig& model, int64_t batch_size, int64_t longest) {
  if (!model.is_decoder()) return fmt::format("they run decoders alone, not the architecture {}", model.architecture);
  if (model.norm != "rms") return fmt::format("they do not run --norm {}", model.norm);
  if (!runs_fused(model, at::kCUDA)) {
    return fmt::format("they do not apply all that the encoding {} states", model.encoding);
  }
  if (!gpu::runs_head(model.head_dim)) {
    return fmt::format("they want a --head-dim that is a multiple of {} up to {}, not {}", gpu::kHeadStep,
                       gpu::kMostHeadDim, model.head_dim);
  }
  if (!gpu::runs_width(model.width)) {
    return fmt::format("they want a --width that is a multiple of {} up to {}, not {}", gpu::kWidthStep,
                       gpu::kMostWidth, model.width);
  }
  if (model.ff_width % gpu::kHiddenStep != 0) {
    return fmt::format("they want an --ff-width that is a multiple of {}, not {}", gpu::kHiddenStep, model.ff_width);
  }
  if (batch_size > gpu::kMostSequences) {
    return fmt::format("they take a --batch-size of at most {}, not {}", gpu::kMostSequences, batch_size);
  }
  if (longest > gpu::kMostLearningDistances && (kinds_of(model) & kLearnedTable) != 0) {
    return fmt::format("with them the encoding {} learns from sequences of up to {} tokens, not {}", model.encoding,
                       gpu::kMostLearningDistances, longest);
  }
  return "";
}

std::string plain_note(const std::string& device, const std::string& refusal) {
  if (device != "cuda" || refusal.empty()) return "";
  return "by plain tensor operations, slower than the GPU's fused kernels: " + refusal;
}

}  // namespace lengthwise
