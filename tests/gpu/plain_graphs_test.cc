// Captured steps of plain operations against the same ones piece by piece.
#include "gpu/plain_graphs.h"

#include "batch/assemble.h"
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuPlainGraphs : public GpuTest {
 protected:
  struct Sums {
    std::vector<double> losses;
    std::vector<at::Tensor> gradients;
  };

  template <class Add>
  static Sums sums(Decoder& decoder, double probability, const Add& add) {
    Sums sums;
    const Rng rng(7);
    for (int64_t step = 0; step < 4; ++step) {
      std::vector<int64_t> examples;
      for (int64_t i = 0; i < 16; ++i) examples.push_back(16 * step + i);
      const Batch batch =
          make_batch(sorting().train, examples, {}, {.placing = &decoder.placing(), .rng = &rng, .step = step});
      decoder.parameters().gradients().zero_();
      const StepDropout dropout{probability, 1000 + static_cast<uint64_t>(step), static_cast<double>(step) / 4};
      const at::Tensor loss = add(batch, dropout, 1.0 / static_cast<double>(batch.target_count()));
      sums.losses.push_back(loss.item<double>());
      sums.gradients.push_back(decoder.parameters().gradients().cpu());
    }
    return sums;
  }
};

TEST_F(GpuPlainGraphs, GiveWhatPiecesGive) {
  std::vector<std::string> names;
  for (const std::string& name : encoding_names()) {
    if (!runs_fused(small_run(name, "fp32").model, at::kCUDA)) names.push_back(name);
  }
  for (const char* mixture : {"rope+fox", "randomized(t5)", "random-float(rope)", "layers(cope,t5,path)"}) {
    names.emplace_back(mixture);
  }
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    Decoder decoder(small_run(name, "fp32").model, 5, at::kFloat, at::kCUDA);
    for (const double probability : {0.0, 0.1}) {
      const auto pieces = make_plain_gradients(decoder, Arithmetic::full);
      PlainGraphs graphs(decoder, Arithmetic::full);
      const Sums expected =
          sums(decoder, probability, [&](const auto&... arguments) { return pieces->add(arguments...); });
      // Twice, so that every room has been seen before.
      for (int64_t round = 0; round < 3; ++round) {
        const Sums found =
            sums(decoder, probability, [&](const auto&... arguments) { return graphs.add(arguments...); });
        for (size_t step = 0; step < expected.losses.size(); ++step) {
          EXPECT_NEAR(found.losses[step], expected.losses[step], 1e-4 * expected.losses[step]);
          const double size = expected.gradients[step].norm().item<double>();
          EXPECT_LT((found.gradients[step] - expected.gradients[step]).norm().item<double>(), 1e-3 * size);
        }
      }
      EXPECT_GT(graphs.graphs(), 0);
      EXPECT_EQ(graphs.not_captured(), 0);
    }
  }
}

}  // namespace
}  // namespace lengthwise
