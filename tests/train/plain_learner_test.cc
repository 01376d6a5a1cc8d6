// Learning by the plain decoder against learning by fused kernels: the same examples, masks and updates.
#include "train/plain_learner.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "data/data_set.h"
#include "kernels/step_noise.h"
#include "model/decoder.h"
#include "model/plain_scorer.h"

namespace lengthwise {
namespace {

const DataSet& sorting() {
  static const DataSet data = [] {
    DataConfig config;
    config.task = "sort";
    config.train_lengths = LengthRange{1, 6};
    config.test_lengths = LengthRange{7, 8};
    config.train_count = 200;
    config.validation_count = 20;
    config.test_count = 20;
    return build_data_set(config, 1);
  }();
  return data;
}

struct Learned {
  std::vector<double> losses, norms;
  at::Tensor values;
};

Learned learn(const std::string& encoding, const MakeLearner& make, int64_t random_offset, int64_t accumulate = 1) {
  TrainConfig config;
  config.model.encoding = encoding;
  config.model.width = 32;
  config.model.heads = 2;
  config.model.dropout = 0.1;
  config.batch_size = 8;
  config.accumulate = accumulate;
  config.steps = 20;
  config.lr = 1e-3;
  config.clip = 0.5;
  config.random_offset = random_offset;
  config.device = "cpu";
  config.precision = "fp32";
  config = resolve(config, sorting().vocabulary.size());
  Decoder decoder(config.model, 3, at::kDouble);
  TrainState state;
  state.first = at::zeros_like(decoder.parameters().values());
  state.second = at::zeros_like(decoder.parameters().values());
  const std::unique_ptr<Learner> learner = make(config, sorting().train, decoder, state);
  Learned learned;
  for (int64_t step = 0; step < 10; ++step) {
    learner->step(step);
    learned.losses.push_back(learner->metrics().loss);
    learned.norms.push_back(learner->metrics().gradient_norm);
  }
  learned.values = decoder.parameters().values().clone();
  return learned;
}

TEST(PlainLearner, LearnsWhatTheFusedOneLearns) {
  for (const auto& [encoding, offset] : {std::pair("t5", 0), std::pair("rope+window(size=5)", 0),
                                         std::pair("learned(positions=64)", 40), std::pair("transformer-xl", 0)}) {
    SCOPED_TRACE(encoding);
    const Learned fused = learn(encoding, make_cpu_learner, offset);
    const Learned plain = learn(encoding, make_plain_learner, offset);
    for (size_t step = 0; step < fused.losses.size(); ++step) {
      EXPECT_NEAR(plain.losses[step], fused.losses[step], 1e-9);
      EXPECT_NEAR(plain.norms[step], fused.norms[step], 1e-8 * fused.norms[step]);
    }
    EXPECT_LT((plain.values - fused.values).abs().max().item<double>(), 1e-7);
  }
}

/// Gives its losses in one place, as captured steps do.
class InOnePlace : public PlainGradients {
 public:
  explicit InOnePlace(const Model& model) : gradients_(make_plain_gradients(model, Arithmetic::full)) {}

  at::Tensor add(const Batch& batch, const StepDropout& dropout, double weight) override {
    const at::Tensor loss = gradients_->add(batch, dropout, weight);
    if (!place_.defined()) place_ = at::empty_like(loss);
    return place_.copy_(loss);
  }

 private:
  std::unique_ptr<PlainGradients> gradients_;
  at::Tensor place_;
};

TEST(PlainLearner, TakesABatchInPartsAsTheFusedOneDoes) {
  const MakeLearner in_one_place = [](const TrainConfig& config, const TokenSet& examples, Model& model,
                                      TrainState& state) {
    return make_plain_learner_with(config, examples, model, state, std::make_unique<InOnePlace>(model));
  };
  const Learned fused = learn("t5", make_cpu_learner, 0, 3);
  for (const MakeLearner& make : {MakeLearner(make_plain_learner), in_one_place}) {
    const Learned plain = learn("t5", make, 0, 3);
    for (size_t step = 0; step < fused.losses.size(); ++step) {
      EXPECT_NEAR(plain.losses[step], fused.losses[step], 1e-9);
    }
    EXPECT_LT((plain.values - fused.values).abs().max().item<double>(), 1e-7);
  }
}

// Ten steps of twenty: a drop at half comes behind them, one at a fifth in their midst.
TEST(Learner, DropsAnEncodingAtItsShareOfTheSteps) {
  for (const MakeLearner& make : {MakeLearner(make_cpu_learner), MakeLearner(make_plain_learner)}) {
    const Learned rope = learn("rope", make, 0);
    const Learned nope = learn("nope", make, 0);
    EXPECT_TRUE(at::equal(learn("drope(rope,at=0.5)", make, 0).values, rope.values));
    EXPECT_TRUE(at::equal(learn("drope(rope,at=0)", make, 0).values, nope.values));
    const Learned dropped = learn("drope(rope,at=0.2)", make, 0);
    for (size_t step = 0; step < 4; ++step) EXPECT_EQ(dropped.losses[step], rope.losses[step]);
    EXPECT_NE(dropped.losses[4], rope.losses[4]);
    EXPECT_NE(dropped.losses[4], nope.losses[4]);
  }
  const Learned fused = learn("drope(t5,at=0.2)", make_cpu_learner, 0);
  const Learned plain = learn("drope(t5,at=0.2)", make_plain_learner, 0);
  EXPECT_LT((plain.values - fused.values).abs().max().item<double>(), 1e-7);
}

TEST(PlainLearner, DrawsTheSameMasksByTensorOperations) {
  const Dropout dropout{0.3, 0x8000000000000123};
  const at::Tensor kept = noise_bits(dropout.seed, 9, 33, at::kCPU) >= int64_t{dropout.threshold()};
  EXPECT_TRUE(at::equal(kept, dropout_mask(dropout, 9, 33, at::kDouble) > 0));
}

}  // namespace
}  // namespace lengthwise
