#include "core/error.h"
#include "gpu/gpu.h"

namespace lengthwise {

void use_own_gpu_stream() {}

int64_t gpu_peak_bytes() {
  return 0;
}

std::unique_ptr<Learner> make_gpu_learner(const TrainConfig&, const TokenSet&, Decoder&, TrainState&, int64_t) {
  fail("this build has no CUDA; use --device cpu, or build with `cmake --preset cuda`");
}

std::unique_ptr<PlainGradients> make_captured_gradients(const Decoder&, Arithmetic) {
  fail("this build has no CUDA; use --device cpu, or build with `cmake --preset cuda`");
}

std::vector<std::vector<int32_t>> gpu_generate_greedy(Decoder&, const std::vector<std::vector<int32_t>>&,
                                                      const GreedyOptions&, const std::function<void(int64_t)>&) {
  fail("this build has no CUDA; use --device cpu, or build with `cmake --preset cuda`");
}

std::unique_ptr<Scorer> make_gpu_scorer(Decoder&, const std::string&, int64_t) {
  fail("this build has no CUDA; use --device cpu, or build with `cmake --preset cuda`");
}

}  // namespace lengthwise
