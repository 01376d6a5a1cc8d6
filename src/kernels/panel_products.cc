#include "kernels/panel_products.h"

#include "core/error.h"

#if defined(__aarch64__) && defined(__ARM_NEON)

#include <ATen/Parallel.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/product_tile.h"

namespace lengthwise {
namespace {

using product_detail::add_tile;
using product_detail::FloatPanels;
using product_detail::kColumns;
using product_detail::store_tile;

/// Bytes of the left operand that stay in the innermost cache while the panels of the right one pass by.
constexpr int64_t kNear = 32 << 10;
/// Bytes of the left operand of a weight's gradient that stay in the cache behind it.
constexpr int64_t kFar = 512 << 10;
/// Rows of a batch that a weight's gradient takes in at once.
constexpr int64_t kChunk = 512;
/// Columns of its right operand that are laid out together.
constexpr int64_t kGroup = 64;
/// Rows that are laid out together.
constexpr int64_t kPacked = 16;
/// Depth that float products are cut into, so that two panels of it fit into the innermost cache.
constexpr int64_t kFloatDepth = 512;

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

/// Where element (k, c) of an operand lies in a panel that is `width` wide.
template <class Panels>
int64_t place_in_panel(int64_t k, int64_t c, int64_t width) {
  return k / Panels::kDepth * (Panels::kDepth * width) + c * Panels::kDepth + k % Panels::kDepth;
}

/// `rows` of x, at most kRows, as a left operand; zeros for the rows that are missing and up to the whole depth.
template <class Panels, class S>
void pack_rows(const S* x, int64_t stride, int64_t rows, int64_t depth, S* panel) {
  constexpr int64_t kRows = Panels::kRows;
  int64_t k = 0;
  if (rows == kRows) {
    for (; k + Panels::kRowsAtOnce <= depth; k += Panels::kRowsAtOnce) {
      Panels::pack_rows(x + k, stride, panel + k * kRows);
    }
  }
  std::fill(panel + k * kRows, panel + rounded_up(depth, Panels::kDepth) * kRows, S{});
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = k; j < depth; ++j) panel[place_in_panel<Panels>(j, r, kRows)] = x[r * stride + j];
  }
}

/// `columns` of x in panels of kWidth, with the rows of x as depth: an operand of a weight's gradient. A panel is
/// `depth` deep. A few rows are read whole at a time: they lie far apart, and often so that the cache keeps few of
/// them.
template <class Panels, int64_t kWidth, class S>
void pack_columns(const S* x, int64_t stride, int64_t columns, int64_t rows, int64_t depth, S* panels) {
  constexpr int64_t kDepth = Panels::kDepth;
  const int64_t whole = columns / kWidth * kWidth;
  const int64_t last = rows / kDepth * kDepth;
  for (int64_t first = 0; first < last; first += kPacked) {
    const int64_t end = std::min(last, first + kPacked);
    for (int64_t c = 0; c < whole; c += kWidth) {
      for (int64_t k = first; k < end; k += kDepth) {
        Panels::template pack_columns<kWidth>(x + k * stride + c, stride, panels + c * depth + k * kWidth);
      }
    }
  }
  for (int64_t c = 0; c < columns; c += kWidth) {
    S* panel = panels + c * depth;
    const int64_t first = c < whole ? last : 0;
    const int64_t width = std::min(kWidth, columns - c);
    std::fill(panel + first * kWidth, panel + depth * kWidth, S{});
    for (int64_t k = first; k < rows; ++k) {
      for (int64_t i = 0; i < width; ++i) panel[place_in_panel<Panels>(k, i, kWidth)] = x[k * stride + c + i];
    }
  }
}

/// The panel of a right operand whose columns lie side by side, or, `transposed`, its depth; `stride` from one to the
/// next in the other direction.
template <class Panels, bool transposed, class S>
void fill_panel(const float* w, int64_t stride, int64_t depth, int64_t columns, S* panel) {
  const int64_t whole = rounded_up(depth, Panels::kDepth);
  constexpr int64_t kStep = transposed ? Panels::kRowsAtOnce : Panels::kDepth;
  int64_t first = 0;
  if (columns == kColumns) {
    for (; first + kStep <= depth; first += kStep) {
      if constexpr (transposed) {
        Panels::fill_rows(w + first, stride, panel + first * kColumns);
      } else {
        Panels::fill_columns(w + first * stride, stride, panel + first * kColumns);
      }
    }
  }
  std::fill(panel + first * kColumns, panel + whole * kColumns, S{});
  for (int64_t k = first; k < depth; ++k) {
    for (int64_t c = 0; c < columns; ++c) {
      panel[place_in_panel<Panels>(k, c, kColumns)] =
          static_cast<S>(transposed ? w[c * stride + k] : w[k * stride + c]);
    }
  }
}

/// Memory that a thread keeps from product to product.
template <class S>
S* room(int64_t elements) {
  thread_local std::vector<S> kept;
  if (kept.size() < static_cast<size_t>(elements)) kept.resize(static_cast<size_t>(elements));
  return kept.data();
}

template <class Panels, class S>
void multiply_rows(const S* x, int64_t stride, int64_t rows, int64_t depth, const S* panels, int64_t columns, S* y) {
  constexpr int64_t kRows = Panels::kRows;
  const int64_t whole = rounded_up(depth, Panels::kDepth);
  // Sums that are rounded when they are written cannot be added to.
  const int64_t cut = std::is_same_v<S, float> ? std::min(whole, kFloatDepth) : whole;
  const int64_t fitting = kNear / (cut * static_cast<int64_t>(sizeof(S))) / kRows * kRows;
  const int64_t block = std::clamp(fitting, kRows, rounded_up(rows, kRows));
  S* packed = room<S>(block * cut);
  for (int64_t first = 0; first < rows; first += block) {
    const int64_t end = std::min(rows, first + block);
    for (int64_t k = 0; k < depth; k += cut) {
      const int64_t deep = std::min(cut, depth - k);
      for (int64_t row = first; row < end; row += kRows) {
        pack_rows<Panels>(x + row * stride + k, stride, std::min(kRows, end - row), deep, packed + (row - first) * cut);
      }
      for (int64_t column = 0; column < columns; column += kColumns) {
        const S* panel = panels + column * whole + k * kColumns;
        const int64_t width = std::min(kColumns, columns - column);
        for (int64_t row = first; row < end; row += kRows) {
          const auto sums = Panels::product(packed + (row - first) * cut, panel, rounded_up(deep, Panels::kDepth));
          S* to = y + row * columns + column;
          if constexpr (std::is_same_v<S, float>) {
            if (k > 0) {
              add_tile(sums, std::min(kRows, end - row), width, to, columns);
              continue;
            }
          }
          store_tile(sums, std::min(kRows, end - row), width, to, columns);
        }
      }
    }
  }
}

struct Range {
  int64_t begin, end;
};

/// Some rows and columns of a weight's gradient.
template <class Panels, class S>
void add_gradient(const S* x, int64_t x_stride, const S* dy, int64_t dy_stride, int64_t rows, Range in, Range out,
                  float* gradient, int64_t gradient_stride) {
  constexpr int64_t kRows = Panels::kRows;
  const int64_t chunks = (rows + kChunk - 1) / kChunk;
  const int64_t chunk = rounded_up((rows + chunks - 1) / chunks, Panels::kDepth);
  const int64_t fitting = kFar / (chunk * static_cast<int64_t>(sizeof(S))) / kRows * kRows;
  const int64_t block = std::clamp(fitting, kRows, rounded_up(in.end - in.begin, kRows));
  S* left = room<S>((block + kGroup) * chunk);
  S* right = left + block * chunk;
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    const int64_t depth = rounded_up(count, Panels::kDepth);
    for (int64_t begin = in.begin; begin < in.end; begin += block) {
      const int64_t end = std::min(in.end, begin + block);
      pack_columns<Panels, kRows>(x + first * x_stride + begin, x_stride, end - begin, count, depth, left);
      for (int64_t o = out.begin; o < out.end; o += kColumns) {
        const int64_t place = (o - out.begin) % kGroup;
        if (place == 0) {
          const int64_t columns = std::min(kGroup, out.end - o);
          pack_columns<Panels, kColumns>(dy + first * dy_stride + o, dy_stride, columns, count, depth, right);
        }
        for (int64_t i = begin; i < end; i += kRows) {
          add_tile(Panels::product(left + (i - begin) * depth, right + place * depth, depth), std::min(kRows, end - i),
                   std::min(kColumns, out.end - o), gradient + i * gradient_stride + o, gradient_stride);
        }
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
  with_panels(type, [&]<class Panels>() { size = rounded_up(depth, Panels::kDepth) * rounded_up(columns, kColumns); });
  return size;
}

void fill_panels(const at::Tensor& w, bool transposed, at::Tensor& panels) {
  const int64_t depth = w.size(transposed ? 1 : 0);
  const int64_t columns = w.size(transposed ? 0 : 1);
  const int64_t row = w.size(1);
  LENGTHWISE_CHECK(w.is_contiguous() && panels.numel() == panels_size(depth, columns, panels.scalar_type()),
                   "panels of another size");
  with_panels(panels.scalar_type(), [&]<class Panels>() {
    const float* from = w.const_data_ptr<float>();
    auto* to = stored_mutable<typename Panels::Element>(panels);
    const int64_t whole = rounded_up(depth, Panels::kDepth);
    const auto fill = [&](int64_t begin, int64_t end) {
      for (int64_t column = begin * kColumns; column < std::min(columns, end * kColumns); column += kColumns) {
        const int64_t width = std::min(kColumns, columns - column);
        if (transposed) {
          fill_panel<Panels, true>(from + column * row, row, depth, width, to + column * whole);
        } else {
          fill_panel<Panels, false>(from + column, row, depth, width, to + column * whole);
        }
      }
    };
    const int64_t grain = std::max<int64_t>(1, 16384 / (whole * kColumns));
    at::parallel_for(0, rounded_up(columns, kColumns) / kColumns, grain, fill);
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
    constexpr int64_t kRows = Panels::kRows;
    const auto part = [&](int64_t begin, int64_t end) {
      const int64_t first = begin * kRows;
      multiply_rows<Panels>(from + first * x.stride(0), x.stride(0), std::min(rows, end * kRows) - first, depth,
                            weights, columns, to + first * columns);
    };
    const int64_t grain = std::max<int64_t>(1, (1 << 18) / (kRows * depth * columns));
    at::parallel_for(0, rounded_up(rows, kRows) / kRows, grain, part);
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
    // Threads share the larger side; the smaller operand is laid out by each of them.
    const bool by_rows = in > out;
    const int64_t side = by_rows ? Panels::kRows : kColumns;
    const int64_t size = std::max(in, out);
    const auto part = [&](int64_t begin, int64_t end) {
      const Range own{begin * side, std::min(size, end * side)};
      add_gradient<Panels>(left, x.stride(0), right, dy.stride(0), rows, by_rows ? own : Range{0, in},
                           by_rows ? Range{0, out} : own, sums, out);
    };
    const int64_t grain = std::max<int64_t>(1, (1 << 18) / (side * rows * std::min(in, out)));
    at::parallel_for(0, rounded_up(size, side) / side, grain, part);
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
