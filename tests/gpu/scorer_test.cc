// Scoring and generation on the GPU against the CPU.
#include "batch/assemble.h"
#include "infer/greedy.h"
#include "infer/teacher_forcing.h"
#include "model/cpu_engine.h"
#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

using namespace testing_gpu;

class GpuScoring : public GpuTest {};

void expect_scores_of_the_cpu(const TokenSet& set) {
  for (const std::string& encoding : fused_encodings()) {
    const TrainConfig config = small_run(encoding, "fp32");
    Decoder on_cpu(config.model, 5);
    Decoder on_gpu(config.model, 5, at::kFloat, at::kCUDA);
    CpuEngine engine(on_cpu);
    const auto expected = score_examples(engine, set, all_examples(set));
    for (const char* precision : {"fp32", "bf16"}) {
      const std::unique_ptr<Scorer> scorer = make_gpu_scorer(on_gpu, precision);
      const double tolerance = std::string(precision) == "fp32" ? 1e-4 : 2e-2;
      for (const int64_t budget : {0, 300}) {
        const auto scores = score_examples(*scorer, set, all_examples(set), nullptr, budget);
        ASSERT_EQ(scores.size(), expected.size());
        for (size_t i = 0; i < scores.size(); ++i) {
          EXPECT_EQ(scores[i].targets, expected[i].targets);
          EXPECT_NEAR(scores[i].loss, expected[i].loss, tolerance * expected[i].loss) << encoding << " " << precision;
        }
      }
    }
  }
}

TEST_F(GpuScoring, ScoresAreThoseOfTheCpuWithEveryEncoding) {
  expect_scores_of_the_cpu(sorting().test);
}

// Their attention takes another way (docs/kernels.md).
TEST_F(GpuScoring, LongSequencesScoreAsOnTheCpuWithEveryEncoding) {
  expect_scores_of_the_cpu(sorting_up_to({30, 40}).test);
}

TEST_F(GpuScoring, SeesNewWeights) {
  const TrainConfig config = small_run("nope", "bf16");
  Decoder decoder(config.model, 5, at::kFloat, at::kCUDA);
  const std::unique_ptr<Scorer> scorer = make_gpu_scorer(decoder, "bf16");
  const TokenSet& set = sorting().test;
  const double before = score_examples(*scorer, set, all_examples(set)).front().loss;
  {
    at::NoGradGuard no_grad;
    at::Tensor values = decoder.parameters().values();
    values.mul_(0.5);
  }
  EXPECT_NE(score_examples(*scorer, set, all_examples(set)).front().loss, before);
}

// What is kept from batch to batch is that of their shape and of the weights of the pass.
TEST_F(GpuScoring, KeepsWhatBatchesOfAPassShare) {
  const TokenSet& set = sorting_up_to({30, 40}).test;
  for (const char* encoding : {"fire", "t5", "sinusoidal"}) {
    const TrainConfig config = small_run(encoding, "fp32");
    Decoder decoder(config.model, 5, at::kFloat, at::kCUDA);
    const std::unique_ptr<Scorer> kept = make_gpu_scorer(decoder, "bf16");
    for (int turn = 0; turn < 2; ++turn) {
      const auto scores = score_examples(*kept, set, all_examples(set), nullptr, 300);
      const std::unique_ptr<Scorer> alone = make_gpu_scorer(decoder, "bf16");
      for (const std::vector<int64_t>& run : cut_by_tokens(set, all_examples(set), 300)) {
        const TargetScores found = alone->score(make_batch(set, run));
        double sum = 0;
        for (const int64_t example : run) sum += scores[static_cast<size_t>(example)].loss;
        EXPECT_NEAR(found.losses.to(at::kDouble).sum().item<double>(), sum, 1e-3) << encoding << " " << turn;
      }
      at::NoGradGuard no_grad;
      at::Tensor values = decoder.parameters().values();
      values.mul_(0.9);
    }
  }
}

std::vector<std::vector<int32_t>> some_prompts() {
  const TokenSet& set = sorting().test;
  std::vector<std::vector<int32_t>> prompts;
  for (int64_t i = 0; i < 20; ++i) {
    const auto prompt = set.prompt(i);
    prompts.emplace_back(prompt.begin(), prompt.end());
  }
  return prompts;
}

TEST_F(GpuScoring, GenerationIsTheCpus) {
  const std::vector<std::vector<int32_t>> prompts = some_prompts();
  for (const std::string& encoding : encoding_names()) {
    const TrainConfig config = small_run(encoding, "fp32");
    Decoder on_cpu(config.model, 5);
    Decoder on_gpu(config.model, 5, at::kFloat, at::kCUDA);
    const GreedyOptions options{.max_total_tokens = 60};
    const auto expected = generate_greedy(on_cpu, prompts, options);
    EXPECT_EQ(gpu_generate_greedy(on_gpu, prompts, options), expected) << encoding;
    EXPECT_EQ(generate_greedy(on_gpu, prompts, options), expected) << encoding;
  }
}

// In bfloat16 too, where the CPU's answers part sooner or later: what was written is what scoring expects there.
TEST_F(GpuScoring, GenerationWritesWhatScoringFindsBest) {
  const std::vector<std::vector<int32_t>> prompts = some_prompts();
  for (const std::string& encoding : fused_encodings()) {
    const TrainConfig config = small_run(encoding, "fp32");
    Decoder decoder(config.model, 5, at::kFloat, at::kCUDA);
    for (const char* precision : {"fp32", "tf32", "bf16"}) {
      const auto answers = gpu_generate_greedy(decoder, prompts, {.max_total_tokens = 100, .precision = precision});
      TokenSet written;
      for (size_t i = 0; i < prompts.size(); ++i) {
        written.tokens.insert(written.tokens.end(), prompts[i].begin(), prompts[i].end());
        written.tokens.insert(written.tokens.end(), answers[i].begin(), answers[i].end());
        written.offsets.push_back(static_cast<int64_t>(written.tokens.size()));
        written.prompt_tokens.push_back(static_cast<int32_t>(prompts[i].size()));
        written.length.push_back(1);
      }
      const Batch batch = make_batch(written, all_examples(written));
      ASSERT_GT(batch.target_count(), 20) << encoding;
      const TargetScores scores = make_gpu_scorer(decoder, precision)->score(batch);
      const double same = scores.best.eq(batch.targets).to(at::kDouble).mean().item<double>();
      EXPECT_GE(same, std::string(precision) == "fp32" ? 0.998 : 0.97) << encoding << " " << precision;
    }
  }
}

}  // namespace
}  // namespace lengthwise
