// The encoding that docs/adding_an_encoding.md walks through, compiled from its text (tests/CMakeLists.txt).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "positional/registry.h"

namespace lengthwise {

std::unique_ptr<Encoding> make_window(const EncodingConfig&, const EncodingShape&, Parameters&);

namespace {

TEST(DocumentedEncoding, IsALearnedSlopeInsideItsWindow) {
  Parameters parameters;
  const auto encoding =
      make_window({}, {.layers = 1, .heads = 2, .head_dim = 4, .width = 8, .type = at::kDouble}, parameters);
  parameters.allocate(at::kDouble, Rng(1));
  parameters.all().front().value.data().copy_(at::tensor({0.5, 2.0}, at::kDouble));
  const at::Tensor table = encoding->score_terms(20, 0, {}).table;
  ASSERT_EQ(table.sizes(), (std::vector<int64_t>{2, 20}));
  for (int64_t distance = 0; distance < 20; ++distance) {
    const double away = static_cast<double>(distance);
    EXPECT_DOUBLE_EQ(table[0][distance].item<double>(), distance > 16 ? -1e4 : -0.5 * away);
    EXPECT_DOUBLE_EQ(table[1][distance].item<double>(), distance > 16 ? -1e4 : -2 * away);
  }
  table.slice(1, 0, 4).sum().backward();
  EXPECT_DOUBLE_EQ(parameters.all().front().gradient[1].item<double>(), -(1 + 2 + 3));
}

}  // namespace
}  // namespace lengthwise
