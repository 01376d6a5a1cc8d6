// The plain decoder on a batch laid into capacities, with a seed that lies in a tensor: as steps are captured on a GPU.
#include <gtest/gtest.h>

#include "batch/room.h"
#include "model/plain_targets.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using namespace testing_model;

class PlainRoom : public testing::TestWithParam<std::string> {};

TEST_P(PlainRoom, ChangesNothing) {
  Decoder decoder(small_config(GetParam()), 1, at::kDouble);
  shake(decoder);
  Batch batch = random_batch({1, 9, 2, 30, 17}, 4);
  batch.from_zero = true;
  const BatchRoom room = room_for(batch);
  ASSERT_GT(room.tokens, batch.token_count());
  ASSERT_GT(room.targets, batch.target_count());
  const double weight = 1.0 / static_cast<double>(batch.target_count());
  at::Tensor weights = at::zeros({room.targets}, at::kDouble);
  weights.narrow(0, 0, batch.target_count()).fill_(weight);
  at::Tensor gradients = decoder.parameters().gradients();
  for (const double probability : {0.0, 0.2}) {
    gradients.zero_();
    const StepDropout dropout{probability, uint64_t{0x8000000000000123}, 0.5};
    const TargetScores expected = plain_gradients(decoder, batch, dropout, Arithmetic::full, weight);
    const at::Tensor wanted = gradients.clone();
    gradients.zero_();
    const StepDropout written{probability, std::nullopt, 0.5,
                              at::full({1}, static_cast<int64_t>(*dropout.seed), at::kLong)};
    const TargetScores found = plain_gradients(decoder, in_room(batch, room), written, Arithmetic::full, weights);
    EXPECT_TRUE(at::allclose(found.losses.narrow(0, 0, batch.target_count()), expected.losses, 1e-9, 1e-10));
    EXPECT_TRUE(at::equal(found.best.narrow(0, 0, batch.target_count()), expected.best));
    EXPECT_TRUE(at::allclose(gradients, wanted, 1e-8, 1e-10)) << (gradients - wanted).abs().max();
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, PlainRoom, testing::ValuesIn(encoding_names()), [](const auto& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace lengthwise
