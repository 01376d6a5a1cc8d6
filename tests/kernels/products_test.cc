// The matrix products of linear layers against ordinary tensor operations.
#include "kernels/products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace lengthwise {
namespace {

/// A [rows, columns] tensor with room for whole blocks, with what a bug would notice behind its rows.
at::Tensor roomy(int64_t rows, int64_t columns, at::ScalarType type) {
  at::Tensor store = at::full({rounded_rows(rows), columns}, 1e30, type);
  at::Tensor x = store.narrow(0, 0, rows);
  x.copy_(at::randn({rows, columns}));
  return x;
}

class Products : public testing::TestWithParam<std::tuple<at::ScalarType, int64_t>> {};

TEST_P(Products, AgreeWithDoubleArithmetic) {
  at::manual_seed(3);
  const auto [type, rows] = GetParam();
  const double tolerance = type == at::kDouble ? 1e-12 : type == at::kFloat ? 1e-5 : 5e-3;
  const at::Tensor x = roomy(rows, 48, type);
  const at::Tensor dy = roomy(rows, 80, type);
  const at::Tensor w = at::randn({48, 80}).to(type);
  const auto exact = [](const at::Tensor& t) { return t.to(at::kDouble); };
  const auto expect_near = [&](const at::Tensor& got, const at::Tensor& wanted, const char* what) {
    EXPECT_LE((exact(got) - wanted).abs().max().item<double>(), tolerance * wanted.abs().max().item<double>()) << what;
  };
  at::Tensor y = roomy(rows, 80, type);
  multiply(x, w, y);
  expect_near(y, at::mm(exact(x), exact(w)), "x w");
  at::Tensor dx = roomy(rows, 48, type);
  multiply_transposed(dy, w, dx);
  expect_near(dx, at::mm(exact(dy), exact(w).t()), "dy w^T");
  const at::Tensor before = at::randn({48, 80}, type == at::kBFloat16 ? at::kFloat : type);
  at::Tensor gradient = before.clone();
  add_weight_gradient(x, dy, gradient);
  expect_near(gradient, exact(before) + at::mm(exact(x).t(), exact(dy)), "x^T dy");
}

INSTANTIATE_TEST_SUITE_P(TypesAndRows, Products,
                         testing::Combine(testing::Values(at::kDouble, at::kFloat, at::kBFloat16),
                                          testing::Values(1, 63, 64, 200)));

}  // namespace
}  // namespace lengthwise
