#pragma once
/// Short trainings of small models, on the CPU or the GPU, for tests.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "data/data_set.h"
#include "gpu/gpu.h"
#include "positional/registry.h"
#include "train/trainer.h"

namespace lengthwise::testing_gpu {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU is present";
    use_own_gpu_stream();
  }
};

inline DataSet sorting_up_to(LengthRange test_lengths) {
  DataConfig config;
  config.task = "sort";
  config.train_lengths = LengthRange{1, 9};
  config.test_lengths = test_lengths;
  config.train_count = 400;
  config.validation_count = 100;
  config.test_count = 100;
  return build_data_set(config, 1);
}

/// Up to 52 tokens.
inline const DataSet& sorting() {
  static const DataSet data = sorting_up_to({10, 20});
  return data;
}

inline TrainConfig small_run(const std::string& encoding, const std::string& precision) {
  TrainConfig config;
  config.data.task = "sort";
  config.model.model = "tiny";
  config.model.layers = 3;
  config.model.width = 64;
  config.model.heads = 4;
  config.model.dropout = 0.1;
  config.model.encoding = encoding;
  config.model.encoding_options.max_positions = 128;
  config.batch_size = 16;
  config.steps = 100;
  config.lr = 1e-3;
  config.warmup = 0;
  config.device = "cpu";  // what resolve() checks; the decoder below says where it really is
  config.precision = precision;
  return resolve(config, sorting().vocabulary.size());
}

struct Trained {
  std::vector<double> losses, norms;
  at::Tensor values, first, second;  ///< on the CPU
};

/// The device's fused learner, on these examples whatever it is asked for.
inline MakeLearner fused_learner_on(const TokenSet& examples, at::Device device) {
  return [&examples, device](const TrainConfig& config, const TokenSet&, Model& model, TrainState& state) {
    Decoder& decoder = *as_decoder(model);
    return device.is_cuda() ? make_gpu_learner(config, examples, decoder, state)
                            : make_cpu_learner(config, examples, decoder, state);
  };
}

/// `steps` steps from where `from` left off, or from the start. `make_encoding`: as Decoder's. `learner`: by default
/// the fused one of the device.
inline Trained train_steps(const TrainConfig& config, at::Device device, int64_t steps, const Trained* from = nullptr,
                           int64_t done = 0, MakeEncoding make_encoding = nullptr, const MakeLearner& make = nullptr) {
  Decoder decoder(config.model, static_cast<uint64_t>(config.seed), at::kFloat, device, make_encoding);
  TrainState state;
  state.step = done;
  at::Tensor values = decoder.parameters().values();
  state.first = at::zeros_like(values);
  state.second = at::zeros_like(values);
  if (from != nullptr) {
    at::NoGradGuard no_grad;
    values.copy_(from->values);
    state.first.copy_(from->first);
    state.second.copy_(from->second);
  }
  const MakeLearner& own = make ? make : fused_learner_on(sorting().train, device);
  const std::unique_ptr<Learner> learner = own(config, sorting().train, decoder, state);
  Trained trained;
  for (int64_t step = done; step < done + steps; ++step) {
    learner->step(step);
    const StepMetrics metrics = learner->metrics();
    trained.losses.push_back(metrics.loss);
    trained.norms.push_back(metrics.gradient_norm);
  }
  trained.values = values.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
  trained.first = state.first.to(at::kCPU, false, true);
  trained.second = state.second.to(at::kCPU, false, true);
  return trained;
}

inline void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * std::abs(b[i])) << what << " of step " << i;
}

/// Thirty steps again, and resumed after eleven, end in the same bits.
inline void expect_same_bits_again(const TrainConfig& config, const std::string& what) {
  const Trained once = train_steps(config, at::kCUDA, 30);
  const Trained again = train_steps(config, at::kCUDA, 30);
  EXPECT_TRUE(at::equal(once.values, again.values)) << what;
  EXPECT_EQ(once.losses, again.losses);
  const Trained half = train_steps(config, at::kCUDA, 11);
  const Trained rest = train_steps(config, at::kCUDA, 19, &half, 11);
  EXPECT_TRUE(at::equal(once.values, rest.values)) << what << ", resumed";
}

/// Those of the registry that the fused kernels run, and mixtures that ask more of them.
inline std::vector<std::string> fused_encodings() {
  std::vector<std::string> names = {"rope+fox",       "layers(fox,nope)",   "randomized(fire)",
                                    "randomized(t5)", "random-float(rope)", "drope(rope,at=0.05)"};
  for (const std::string& name : encoding_names()) {
    if (runs_fused(small_run(name, "fp32").model, at::kCUDA)) names.push_back(name);
  }
  return names;
}

}  // namespace lengthwise::testing_gpu
