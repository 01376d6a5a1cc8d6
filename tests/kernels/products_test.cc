// The matrix products of linear layers, by torch's libraries and by our own panels, against double arithmetic.
#include "kernels/products.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "kernels/panel_products.h"

namespace lengthwise {
namespace {

/// A [rows, columns] tensor with room for whole blocks, with what a bug would notice behind its rows.
at::Tensor roomy(int64_t rows, int64_t columns, at::ScalarType type) {
  at::Tensor store = at::full({rounded_rows(rows), columns}, 1e30, type);
  at::Tensor x = store.narrow(0, 0, rows);
  x.copy_(at::randn({rows, columns}));
  return x;
}

at::Tensor exact(const at::Tensor& t) {
  return t.to(at::kDouble);
}

ProductWeight in_panels(const at::Tensor& w, at::ScalarType type) {
  ProductWeight weight{{},
                       at::empty({panels_size(w.size(0), w.size(1), type)}, type),
                       at::empty({panels_size(w.size(1), w.size(0), type)}, type)};
  fill_panels(w.to(at::kFloat), false, weight.panels);
  fill_panels(w.to(at::kFloat), true, weight.transposed);
  return weight;
}

struct Results {
  at::Tensor y, dx, gradient;
};

Results products_of(const at::Tensor& x, const at::Tensor& dy, const ProductWeight& w, const at::Tensor& before) {
  Results results{roomy(x.size(0), dy.size(1), x.scalar_type()), roomy(x.size(0), x.size(1), x.scalar_type()),
                  before.clone()};
  multiply(x, w, results.y);
  multiply_transposed(dy, w, results.dx);
  add_weight_gradient(x, dy, results.gradient);
  return results;
}

// Sizes that whole tiles fill, and ones that they do not.
using Size = std::pair<int64_t, int64_t>;
class Products : public testing::TestWithParam<std::tuple<at::ScalarType, int64_t, Size, bool>> {};

TEST_P(Products, AgreeWithDoubleArithmetic) {
  const auto [type, rows, size, panels] = GetParam();
  const auto [in, out] = size;
  if (panels && !has_panel_products(type)) GTEST_SKIP() << "products of this type are a library's here";
  at::manual_seed(3);
  const double tolerance = type == at::kDouble ? 1e-12 : type == at::kFloat ? 1e-5 : 5e-3;
  const at::Tensor x = roomy(rows, in, type);
  const at::Tensor dy = roomy(rows, out, type);
  const at::Tensor w = at::randn({in, out}).to(type);
  const at::Tensor before = at::randn({in, out}, type == at::kBFloat16 ? at::kFloat : type);
  const Results results = products_of(x, dy, panels ? in_panels(w, type) : ProductWeight{w, {}, {}}, before);
  const auto expect_near = [&](const at::Tensor& got, const at::Tensor& wanted, const char* what) {
    EXPECT_LE((exact(got) - wanted).abs().max().item<double>(), tolerance * wanted.abs().max().item<double>()) << what;
  };
  expect_near(results.y, at::mm(exact(x), exact(w)), "x w");
  expect_near(results.dx, at::mm(exact(dy), exact(w).t()), "dy w^T");
  expect_near(results.gradient, exact(before) + at::mm(exact(x).t(), exact(dy)), "x^T dy");
}

INSTANTIATE_TEST_SUITE_P(TypesRowsAndSizes, Products,
                         testing::Combine(testing::Values(at::kDouble, at::kFloat, at::kBFloat16),
                                          testing::Values(1, 63, 64, 200),
                                          testing::Values(Size{48, 80}, Size{37, 21}, Size{8, 700}, Size{1, 3}),
                                          testing::Bool()));

class OwnProducts : public testing::TestWithParam<at::ScalarType> {};

TEST_P(OwnProducts, DependNeitherOnThreadsNorOnOtherRows) {
  const at::ScalarType type = GetParam();
  if (!has_panel_products(type)) GTEST_SKIP() << "products of this type are a library's here";
  at::manual_seed(4);
  const at::Tensor x = roomy(1500, 64, type);
  const at::Tensor dy = roomy(1500, 200, type);
  const at::Tensor before = at::zeros({64, 200});
  const ProductWeight w = in_panels(at::randn({64, 200}), type);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Results alone = products_of(x, dy, w, before);
  at::set_num_threads(3);
  const Results together = products_of(x, dy, w, before);
  at::set_num_threads(threads);
  EXPECT_TRUE(alone.y.equal(together.y));
  EXPECT_TRUE(alone.dx.equal(together.dx));
  EXPECT_TRUE(alone.gradient.equal(together.gradient));
  const Results few = products_of(x.narrow(0, 3, 21), dy.narrow(0, 3, 21), w, before);
  EXPECT_TRUE(few.y.equal(alone.y.narrow(0, 3, 21)));
  EXPECT_TRUE(few.dx.equal(alone.dx.narrow(0, 3, 21)));
}

INSTANTIATE_TEST_SUITE_P(Types, OwnProducts, testing::Values(at::kFloat, at::kBFloat16));

}  // namespace
}  // namespace lengthwise
