#pragma once
/// An encoding by the text that names it, with what it states.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "positional/named.h"

namespace lengthwise::testing_encoding {

/// Two layers of three heads, in double.
inline EncodingShape shape_of(int64_t head_dim) {
  return {.layers = 2, .heads = 3, .head_dim = head_dim, .width = 3 * head_dim, .type = at::kDouble};
}

class Made {
 public:
  Made(const std::string& text, const EncodingShape& shape)
      : encoding_(make_encoding(read_encoding(text), shape, {parameters_, "encoding."})) {
    parameters_.allocate(shape.type, Rng(1));
  }
  Made(const std::string& text, int64_t head_dim) : Made(text, shape_of(head_dim)) {}

  const Encoding& encoding() const { return *encoding_; }
  const Parameters& parameters() const { return parameters_; }

  LayerValues values(const std::vector<int64_t>& positions, int64_t layer = 0) const {
    EncodingContext context;
    context.positions = at::tensor(positions, at::kLong);
    context.distances = 1;
    return encoding_->layer(layer, context);
  }

 private:
  Parameters parameters_;
  std::unique_ptr<Encoding> encoding_;
};

/// By how much each pair turns from one position to the next: [pair] double.
inline at::Tensor frequencies(const std::string& text, int64_t head_dim) {
  const Rotation turn = Made(text, head_dim).values({1}).query;
  return at::atan2(turn.sin, turn.cos).squeeze(0);
}

inline void expect_same(const at::Tensor& a, const at::Tensor& b, const std::string& what) {
  ASSERT_EQ(a.defined(), b.defined()) << what;
  if (!a.defined()) return;
  EXPECT_TRUE(a.sizes() == b.sizes() && at::allclose(a, b, 1e-12, 1e-12)) << what;
}

/// Rotations and scales of the two, for a head of 64 dims.
inline void expect_same_values(const std::string& one, const std::string& other) {
  const std::vector<int64_t> positions{0, 1, 5, 77, 1000};
  const LayerValues a = Made(one, 64).values(positions);
  const LayerValues b = Made(other, 64).values(positions);
  const std::string both = one + " and " + other;
  expect_same(a.query.cos, b.query.cos, "cosines of " + both);
  expect_same(a.query.sin, b.query.sin, "sines of " + both);
  expect_same(a.key.cos, b.key.cos, "keys of " + both);
  expect_same(a.query_scale, b.query_scale, "scales of " + both);
}

/// What the user is told.
inline std::string refusal(const std::string& text) {
  try {
    Made(text, 64);
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace lengthwise::testing_encoding
