#include "kernels/panel_products.h"

#include "core/error.h"

#if defined(__aarch64__) && defined(__ARM_NEON)

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "kernels/product_tile.h"

namespace lengthwise {
namespace {

using product_detail::add_tile;
using product_detail::FloatPanels;
using product_detail::kSide;
using product_detail::store_tile;

/// Bytes of the left operand that stay in the innermost cache while the panels of the right one pass by.
constexpr int64_t kNear = 32 << 10;
/// Bytes of both operands of a weight's gradient that stay in the cache behind it.
constexpr int64_t kFar = 512 << 10;

constexpr int64_t rounded_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

/// Calls function.template operator()<Panels>() with the panels of an element type.
template <class Function>
void with_panels(at::ScalarType type, const Function& function) {
  if (type == at::kFloat) return function.template operator()<FloatPanels>();
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  if (type == at::kBFloat16) return function.template operator()<product_detail::Bf16Panels>();
#endif
  LENGTHWISE_CHECK(false, "no panels of this type");
}

/// Where element (k, c) of a right operand lies in its panel.
template <class Panels>
int64_t place_in_panel(int64_t k, int64_t c) {
  return k / Panels::kDepth * (Panels::kDepth * kSide) + c * Panels::kDepth + k % Panels::kDepth;
}

/// `rows` of x, at most 8, as a left operand; zeros up to 8 rows and to the whole depth.
template <class Panels>
void pack_rows(const typename Panels::Element* x, int64_t stride, int64_t rows, int64_t depth,
               typename Panels::Element* panel) {
  using Element = typename Panels::Element;
  int64_t k = 0;
  if constexpr (Panels::kDepth > 1) {
    if (rows == kSide) {
      for (; k + 2 * Panels::kDepth <= depth; k += 2 * Panels::kDepth)
        Panels::pack_rows(x + k, stride, panel + k * kSide);
    }
  }
  std::fill(panel + k * kSide, panel + rounded_up(depth, Panels::kDepth) * kSide, Element{});
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = k; j < depth; ++j) panel[place_in_panel<Panels>(j, r)] = x[r * stride + j];
  }
}

/// `columns` of x, at most 8, with rows as the depth: an operand of a weight's gradient.
template <class Panels>
void pack_columns(const typename Panels::Element* x, int64_t stride, int64_t columns, int64_t rows,
                  typename Panels::Element* panel) {
  using Element = typename Panels::Element;
  int64_t k = 0;
  if (columns == kSide) {
    for (; k + Panels::kDepth <= rows; k += Panels::kDepth) {
      if constexpr (Panels::kDepth > 1) {
        Panels::pack_columns(x + k * stride, stride, panel + k * kSide);
      } else {
        std::copy_n(x + k * stride, kSide, panel + k * kSide);
      }
    }
  }
  std::fill(panel + k * kSide, panel + rounded_up(rows, Panels::kDepth) * kSide, Element{});
  for (; k < rows; ++k) {
    for (int64_t c = 0; c < columns; ++c) panel[place_in_panel<Panels>(k, c)] = x[k * stride + c];
  }
}

template <class Panels>
void fill_panel(const float* w, int64_t depth_stride, int64_t column_stride, int64_t depth, int64_t columns,
                typename Panels::Element* panel) {
  using Element = typename Panels::Element;
  const int64_t whole = rounded_up(depth, Panels::kDepth);
  if (columns < kSide || depth < whole) std::fill(panel, panel + whole * kSide, Element{});
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t c = 0; c < columns; ++c) {
      panel[place_in_panel<Panels>(k, c)] = static_cast<Element>(w[k * depth_stride + c * column_stride]);
    }
  }
}

/// Memory that a thread keeps from product to product.
template <class Element>
Element* room(size_t elements) {
  thread_local std::vector<Element> kept;
  if (kept.size() < elements) kept.resize(elements);
  return kept.data();
}

template <class Panels, class S>
void multiply_rows(const S* x, int64_t stride, int64_t rows, int64_t depth, const S* panels, int64_t columns, S* y) {
  const int64_t whole = rounded_up(depth, Panels::kDepth);
  const int64_t block = std::max(kSide, kNear / (whole * static_cast<int64_t>(sizeof(S))) / kSide * kSide);
  S* packed =
      Panels::kDepth > 1 ? room<S>(static_cast<size_t>(std::min(block, rounded_up(rows, kSide)) * whole)) : nullptr;
  for (int64_t first = 0; first < rows; first += block) {
    const int64_t end = std::min(rows, first + block);
    if constexpr (Panels::kDepth > 1) {
      for (int64_t row = first; row < end; row += kSide) {
        pack_rows<Panels>(x + row * stride, stride, std::min(kSide, rows - row), depth, packed + (row - first) * whole);
      }
    }
    for (int64_t column = 0; column < columns; column += kSide) {
      const S* panel = panels + column * whole;
      const int64_t width = std::min(kSide, columns - column);
      for (int64_t row = first; row < end; row += kSide) {
        const int64_t height = std::min(kSide, end - row);
        S* to = y + row * columns + column;
        if constexpr (Panels::kDepth > 1) {
          store_tile(Panels::panel_by_panel(packed + (row - first) * whole, panel, whole), height, width, to, columns);
        } else if (height == kSide) {
          store_tile(Panels::rows_by_panel(x + row * stride, stride, panel, depth), height, width, to, columns);
        } else {
          S* last = room<S>(static_cast<size_t>(whole * kSide));
          pack_rows<Panels>(x + row * stride, stride, height, depth, last);
          store_tile(Panels::panel_by_panel(last, panel, whole), height, width, to, columns);
        }
      }
    }
  }
}

/// A part of a weight's gradient: rows [in_first, in_end) and columns [out_first, out_end) of it, borders of tiles.
template <class Panels, class S>
void add_gradient(const S* x, int64_t x_stride, const S* dy, int64_t dy_stride, int64_t rows, int64_t in_first,
                  int64_t in_end, int64_t out_first, int64_t out_end, int64_t chunk, float* gradient, int64_t out) {
  const int64_t left_size = rounded_up(in_end - in_first, kSide);
  const int64_t right_size = rounded_up(out_end - out_first, kSide);
  S* left = room<S>(static_cast<size_t>((left_size + right_size) * chunk));
  S* right = left + left_size * chunk;
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    const int64_t depth = rounded_up(count, Panels::kDepth);
    const auto pack = [&](const S* from, int64_t stride, int64_t begin, int64_t end, S* to) {
      for (int64_t c = begin; c < end; c += kSide) {
        pack_columns<Panels>(from + first * stride + c, stride, std::min(kSide, end - c), count,
                             to + (c - begin) * depth);
      }
    };
    pack(x, x_stride, in_first, in_end, left);
    pack(dy, dy_stride, out_first, out_end, right);
    for (int64_t o = out_first; o < out_end; o += kSide) {
      for (int64_t i = in_first; i < in_end; i += kSide) {
        add_tile(Panels::panel_by_panel(left + (i - in_first) * depth, right + (o - out_first) * depth, depth),
                 std::min(kSide, in_end - i), std::min(kSide, out_end - o), gradient + i * out + o, out);
      }
    }
  }
}

}  // namespace

bool has_panel_products(at::ScalarType type) {
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  if (type == at::kBFloat16) return true;
#endif
  return type == at::kFloat;
}

int64_t panels_size(int64_t depth, int64_t columns, at::ScalarType type) {
  int64_t size = 0;
  with_panels(type, [&]<class Panels>() { size = rounded_up(depth, Panels::kDepth) * rounded_up(columns, kSide); });
  return size;
}

void fill_panels(const at::Tensor& w, bool transposed, at::Tensor& panels) {
  const int64_t depth = w.size(transposed ? 1 : 0);
  const int64_t columns = w.size(transposed ? 0 : 1);
  const int64_t row = w.size(1);
  LENGTHWISE_CHECK(w.is_contiguous() && panels.numel() == panels_size(depth, columns, panels.scalar_type()),
                   "panels of another size");
  with_panels(panels.scalar_type(), [&]<class Panels>() {
    using Element = typename Panels::Element;
    const float* from = w.const_data_ptr<float>();
    auto* to = stored_mutable<Element>(panels);
    const int64_t whole = rounded_up(depth, Panels::kDepth);
    at::parallel_for(0, (columns + kSide - 1) / kSide, std::max<int64_t>(1, 16384 / (whole * kSide)),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t panel = begin; panel < end; ++panel) {
                         const int64_t column = panel * kSide;
                         const int64_t width = std::min(kSide, columns - column);
                         if (transposed) {
                           fill_panel<Panels>(from + column * row, 1, row, depth, width, to + column * whole);
                         } else {
                           fill_panel<Panels>(from + column, row, 1, depth, width, to + column * whole);
                         }
                       }
                     });
  });
}

void multiply_panels(const at::Tensor& x, const at::Tensor& panels, at::Tensor& y) {
  const int64_t rows = x.size(0);
  const int64_t depth = x.size(1);
  const int64_t columns = y.size(1);
  LENGTHWISE_CHECK(x.stride(1) == 1 && y.is_contiguous() && y.size(0) == rows && x.scalar_type() == y.scalar_type() &&
                       x.scalar_type() == panels.scalar_type() &&
                       panels.numel() == panels_size(depth, columns, panels.scalar_type()),
                   "operands of a product do not fit");
  with_panels(x.scalar_type(), [&]<class Panels>() {
    using Element = typename Panels::Element;
    const auto* from = stored<Element>(x);
    const auto* weights = stored<Element>(panels);
    auto* to = stored_mutable<Element>(y);
    const int64_t tiles = (rows + kSide - 1) / kSide;
    at::parallel_for(
        0, tiles, std::max<int64_t>(1, (1 << 18) / (kSide * depth * columns)), [&](int64_t begin, int64_t end) {
          const int64_t first = begin * kSide;
          multiply_rows<Panels>(from + first * x.stride(0), x.stride(0), std::min(rows, end * kSide) - first, depth,
                                weights, columns, to + first * columns);
        });
  });
}

void add_gradient_by_panels(const at::Tensor& x, const at::Tensor& dy, at::Tensor& gradient) {
  const int64_t rows = x.size(0);
  const int64_t in = x.size(1);
  const int64_t out = dy.size(1);
  LENGTHWISE_CHECK(x.stride(1) == 1 && dy.stride(1) == 1 && dy.size(0) == rows && gradient.is_contiguous() &&
                       gradient.size(0) == in && gradient.size(1) == out && x.scalar_type() == dy.scalar_type(),
                   "operands of a weight's gradient do not fit");
  with_panels(x.scalar_type(), [&]<class Panels>() {
    using Element = typename Panels::Element;
    const auto* left = stored<Element>(x);
    const auto* right = stored<Element>(dy);
    auto* sums = gradient.data_ptr<float>();
    const int64_t fitting =
        kFar / static_cast<int64_t>(sizeof(Element)) / (rounded_up(in, kSide) + rounded_up(out, kSide));
    const int64_t chunk = std::min(std::clamp<int64_t>(fitting / 64 * 64, 64, 1024), rounded_up(rows, 64));
    const bool by_rows = in > out;  // the smaller operand is the one that every thread lays out
    const int64_t tiles = (std::max(in, out) + kSide - 1) / kSide;
    at::parallel_for(0, tiles, std::max<int64_t>(1, (1 << 18) / (kSide * rows * std::min(in, out))),
                     [&](int64_t begin, int64_t end) {
                       const int64_t first = begin * kSide;
                       const int64_t last = std::min(std::max(in, out), end * kSide);
                       add_gradient<Panels>(left, x.stride(0), right, dy.stride(0), rows, by_rows ? first : 0,
                                            by_rows ? last : in, by_rows ? 0 : first, by_rows ? out : last, chunk, sums,
                                            out);
                     });
  });
}

}  // namespace lengthwise

#else

namespace lengthwise {

bool has_panel_products(at::ScalarType /*type*/) {
  return false;
}

int64_t panels_size(int64_t /*depth*/, int64_t /*columns*/, at::ScalarType /*type*/) {
  LENGTHWISE_CHECK(false, "no panels on this machine");
}

void fill_panels(const at::Tensor& /*w*/, bool /*transposed*/, at::Tensor& /*panels*/) {
  LENGTHWISE_CHECK(false, "no panels on this machine");
}

void multiply_panels(const at::Tensor& /*x*/, const at::Tensor& /*panels*/, at::Tensor& /*y*/) {
  LENGTHWISE_CHECK(false, "no panels on this machine");
}

void add_gradient_by_panels(const at::Tensor& /*x*/, const at::Tensor& /*dy*/, at::Tensor& /*gradient*/) {
  LENGTHWISE_CHECK(false, "no panels on this machine");
}

}  // namespace lengthwise

#endif
