// The encoding that docs/adding_an_encoding.md walks through, compiled from its text (tests/CMakeLists.txt).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "positional/entry.h"

namespace lengthwise {

extern const EncodingEntry documented_bounded_encoding;

namespace {

std::unique_ptr<Encoding> bounded(const std::string& text, Parameters& parameters) {
  const EncodingSpec spec = parse_spec(text);
  return documented_bounded_encoding.make(EncodingArguments(documented_bounded_encoding, spec),
                                          {.layers = 1, .heads = 2, .head_dim = 4, .width = 8, .type = at::kDouble},
                                          {parameters, "encoding."});
}

TEST(DocumentedEncoding, IsALearnedSlopeUpToItsReach) {
  for (const int64_t reach : {16, 5}) {
    Parameters parameters;
    const auto encoding = bounded(reach == 16 ? "bounded" : "bounded(reach=5)", parameters);
    parameters.allocate(at::kDouble, Rng(1));
    EXPECT_EQ(parameters.all().front().name, "encoding.slope");
    parameters.all().front().value.data().copy_(at::tensor({0.5, 2.0}, at::kDouble));
    EncodingContext context;
    context.distances = 20;
    const at::Tensor table = encoding->layer(0, context).table;
    ASSERT_EQ(table.sizes(), (std::vector<int64_t>{2, 20}));
    for (int64_t distance = 0; distance < 20; ++distance) {
      const auto away = static_cast<double>(std::min(distance, reach));
      EXPECT_DOUBLE_EQ(table[0][distance].item<double>(), -0.5 * away);
      EXPECT_DOUBLE_EQ(table[1][distance].item<double>(), -2 * away);
    }
    table.slice(1, 0, 4).sum().backward();
    EXPECT_DOUBLE_EQ(parameters.all().front().gradient[1].item<double>(), -(1 + 2 + 3));
  }
}

TEST(DocumentedEncoding, RefusesWhatItsOptionCannotBe) {
  Parameters parameters;
  EXPECT_THROW(bounded("bounded(reach=0)", parameters), UserError);
  EXPECT_THROW(bounded("bounded(reach=far)", parameters), UserError);
}

}  // namespace
}  // namespace lengthwise
