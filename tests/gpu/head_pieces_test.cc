// The head in pieces of rows: the same numbers as in one piece, and as on the CPU.
#include "batch/assemble.h"
#include "gpu/decoder_passes.h"
#include "infer/teacher_forcing.h"
#include "model/cpu_engine.h"
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuHeadPieces : public GpuTest {};

/// A batch of `small_run`, 16 sequences, has room for 256 targets and about 160 of them: two pieces, of which the
/// second has rows that are not there. Of 8 sequences the second has no others.
constexpr int64_t kFewRows = 128;

/// On the GPU, with pieces of so many rows.
Trained train_in_pieces(const TrainConfig& config, int64_t steps, int64_t head_rows, const Trained* from = nullptr,
                        int64_t done = 0) {
  const MakeLearner make = [head_rows](const TrainConfig& own, const TokenSet& examples, Model& model,
                                       TrainState& state) {
    return make_gpu_learner(own, examples, *as_decoder(model), state, head_rows);
  };
  return train_steps(config, at::kCUDA, steps, from, done, nullptr, make);
}

double apart(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

TEST_F(GpuHeadPieces, AreOfBoundedSize) {
  EXPECT_EQ(head_rows_for(32768), 2048);
  EXPECT_EQ(head_rows_for(8192), 8192);
  EXPECT_EQ(head_rows_for(10000), 6656);
  EXPECT_EQ(head_rows_for(1000000), kLeastHeadRows);
}

// The first moments after one step are the gradients, scaled.
TEST_F(GpuHeadPieces, LearnAsOnePiece) {
  for (const char* precision : {"fp32", "tf32", "bf16"}) {
    for (const char* encoding : {"rope", "learned", "t5"}) {
      SCOPED_TRACE(fmt::format("{} {}", precision, encoding));
      TrainConfig config = small_run(encoding, precision);
      config.batch_size = 100;
      const bool exact = std::string(precision) == "fp32";
      const Trained one = train_in_pieces(config, 1, 0);
      for (const int64_t rows : {int64_t{128}, int64_t{384}}) {
        const Trained pieces = train_in_pieces(config, 1, rows);
        expect_near(pieces.losses, one.losses, exact ? 1e-6 : 1e-4, "loss");
        expect_near(pieces.norms, one.norms, exact ? 1e-5 : 1e-2, "norm");
        EXPECT_LT(apart(pieces.first, one.first), exact ? 1e-5 : 1e-2);
      }
    }
  }
}

TEST_F(GpuHeadPieces, LearnWhatTheCpuLearns) {
  for (const int64_t sequences : {16, 8}) {
    SCOPED_TRACE(sequences);
    TrainConfig config = small_run("t5", "fp32");
    config.batch_size = sequences;
    config.epsilon = 1e-4;  // see GpuLearning
    const Trained cpu = train_steps(config, at::kCPU, 12);
    const Trained gpu = train_in_pieces(config, 12, kFewRows);
    expect_near(gpu.losses, cpu.losses, 1e-4, "loss");
    expect_near(gpu.norms, cpu.norms, 1e-3, "norm");
    EXPECT_LT(apart(gpu.first, cpu.first), 2e-2);
  }
}

TEST_F(GpuHeadPieces, ALargeVocabularyLearnsAsOnTheCpu) {
  // Filled up to a multiple of 8 by gains, of which there are enough for five rows and too few for seven.
  for (const int64_t vocabulary : {70003, 70001}) {
    SCOPED_TRACE(vocabulary);
    TrainConfig config = small_run("rope", "fp32");
    config.model.vocab_rows = vocabulary;
    config.model.layers = 2;
    config.batch_size = 300;
    EpochOrder order(sorting().train.size(), config.batch_size, static_cast<uint64_t>(config.seed));
    int64_t targets = 0;
    for (const int64_t example : order.examples_of(0)) targets += std::ssize(sorting().train.target(example));
    ASSERT_GT(targets, head_rows_for(config.model.vocab_rows));
    const Trained cpu = train_steps(config, at::kCPU, 2);
    const Trained gpu = train_in_pieces(config, 2, 0);
    expect_near(gpu.losses, cpu.losses, 1e-4, "loss");
    expect_near(gpu.norms, cpu.norms, 1e-3, "norm");
    EXPECT_LT(apart(gpu.first, cpu.first), 2e-2);
  }
}

TEST_F(GpuHeadPieces, GiveTheSameBitsAgain) {
  const TrainConfig config = small_run("t5", "bf16");
  const Trained once = train_in_pieces(config, 30, kFewRows);
  const Trained again = train_in_pieces(config, 30, kFewRows);
  EXPECT_TRUE(at::equal(once.values, again.values));
  const Trained half = train_in_pieces(config, 11, kFewRows);
  EXPECT_TRUE(at::equal(once.values, train_in_pieces(config, 19, kFewRows, &half, 11).values)) << "resumed";
}

TEST_F(GpuHeadPieces, ScoreAsOnTheCpu) {
  const TokenSet& set = sorting().test;
  const TrainConfig config = small_run("rope", "fp32");
  Decoder on_cpu(config.model, 5);
  Decoder on_gpu(config.model, 5, at::kFloat, at::kCUDA);
  CpuEngine engine(on_cpu);
  const auto expected = score_examples(engine, set, all_examples(set));
  for (const char* precision : {"fp32", "bf16"}) {
    const bool exact = std::string(precision) == "fp32";
    const auto scores = score_examples(*make_gpu_scorer(on_gpu, precision, kFewRows), set, all_examples(set));
    ASSERT_EQ(scores.size(), expected.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(scores[i].loss, expected[i].loss, (exact ? 1e-4 : 2e-2) * expected[i].loss) << precision;
      EXPECT_TRUE(!exact || scores[i].correct == expected[i].correct);
    }
  }
}

}  // namespace
}  // namespace lengthwise
