#include "kernels/ramp_pieces.h"

#include <algorithm>

namespace lengthwise {
namespace {

/// Keys that are looked at together; mostly they lie in a few runs of one piece each.
constexpr int64_t kBlock = 64;

template <class T>
struct Block {
  T x[kBlock];
  int32_t distance[kBlock];
  int32_t piece[kBlock];
  int64_t runs = 0;
  int64_t end[kBlock];  ///< of each run of neighbours in one piece

  /// The keys of a row from `first` on, `count` of them.
  Block(const RampLines<T>& lines, const ShareRow<T>& row, int64_t first, int64_t count) {
    const int64_t* keys = row.keys + first;
    int32_t furthest = 0;
    for (int64_t i = 0; i < count; ++i) {
      distance[i] = static_cast<int32_t>(std::max<int64_t>(row.query - keys[i], 0));
      furthest = std::max(furthest, distance[i]);
      piece[i] = 0;
    }
    for (int64_t i = 0; i < count; ++i) x[i] = row.scale[distance[i]] / row.reach;
    if (furthest == 0) {  // keys that are still to come, half of all
      int32_t own = 0;
      for (const T knot : lines.knots) own += x[0] > knot ? 1 : 0;
      std::fill_n(piece, count, own);
      end[runs++] = count;
      return;
    }
    for (const T knot : lines.knots) {
      for (int64_t i = 0; i < count; ++i) piece[i] += x[i] > knot ? 1 : 0;
    }
    for (int64_t i = 1; i < count; ++i) {
      if (piece[i] != piece[i - 1]) end[runs++] = i;
    }
    end[runs++] = count;
  }
};

}  // namespace

template <class T>
RampLines<T>::RampLines(const RampPieces& pieces)
    : knots(pieces.knots().begin(), pieces.knots().end()), results(pieces.results()), count(pieces.count()) {
  for (size_t result = 0; result < results; ++result) {
    for (size_t piece = 0; piece < count; ++piece) {
      double rise = 0, shift = 0;
      for (size_t k = 0; k < pieces.units(); ++k) {
        if (!pieces.active(k, piece)) continue;
        rise += pieces.out(k, result) * pieces.in(k);
        shift += pieces.out(k, result) * pieces.bias(k);
      }
      slope.push_back(static_cast<T>(rise));
      offset.push_back(static_cast<T>(shift));
    }
  }
}

template <class T>
void ramp_forward(const RampLines<T>& lines, const ShareRow<T>& row, int64_t apart, T* y) {
  for (int64_t first = 0; first < row.count; first += kBlock) {
    const int64_t count = std::min(kBlock, row.count - first);
    const Block<T> block(lines, row, first, count);
    for (size_t result = 0; result < lines.results; ++result) {
      T* to = y + static_cast<int64_t>(result) * apart + first;
      int64_t i = 0;
      for (int64_t run = 0; run < block.runs; ++run) {
        const size_t line = result * lines.count + static_cast<size_t>(block.piece[i]);
        const T slope = lines.slope[line];
        const T offset = lines.offset[line];
        for (; i < block.end[run]; ++i) to[i] = slope * block.x[i] + offset;
      }
    }
  }
}

template <class T>
T ramp_backward(const RampLines<T>& lines, const ShareRow<T>& row, const T* d_y, int64_t apart, RampSums& sums) {
  T d_x[kBlock];
  double reach = 0;
  for (int64_t first = 0; first < row.count; first += kBlock) {
    const int64_t count = std::min(kBlock, row.count - first);
    const Block<T> block(lines, row, first, count);
    std::fill_n(d_x, count, T(0));
    for (size_t result = 0; result < lines.results; ++result) {
      const T* given = d_y + static_cast<int64_t>(result) * apart + first;
      int64_t i = 0;
      for (int64_t run = 0; run < block.runs; ++run) {
        const auto piece = static_cast<size_t>(block.piece[i]);
        const T slope = lines.slope[result * lines.count + piece];
        T plain = 0, times_x = 0;
        for (; i < block.end[run]; ++i) {
          d_x[i] += slope * given[i];
          plain += given[i];
          times_x += given[i] * block.x[i];
        }
        sums.plain[piece * lines.results + result] += static_cast<double>(plain);
        sums.times_x[piece * lines.results + result] += static_cast<double>(times_x);
      }
    }
    T across = 0;
    for (int64_t i = 0; i < count; ++i) across += d_x[i] * block.x[i];
    reach += static_cast<double>(across);
    for (int64_t i = 0; i < count; ++i)
      sums.scale[static_cast<size_t>(block.distance[i])] += static_cast<double>(d_x[i] / row.reach);
  }
  return static_cast<T>(-reach) / row.reach;
}

RampGradients ramp_gradients(const RampPieces& pieces, const RampSums& sums) {
  const size_t results = pieces.results();
  RampGradients d{std::vector<double>(pieces.units()), std::vector<double>(pieces.units()),
                  std::vector<double>(pieces.units() * results)};
  for (size_t k = 0; k < pieces.units(); ++k) {
    for (size_t piece = 0; piece < pieces.count(); ++piece) {
      if (!pieces.active(k, piece)) continue;
      for (size_t result = 0; result < results; ++result) {
        const double plain = sums.plain[piece * results + result];
        const double times_x = sums.times_x[piece * results + result];
        d.in[k] += pieces.out(k, result) * times_x;
        d.bias[k] += pieces.out(k, result) * plain;
        d.out[k * results + result] += times_x * pieces.in(k) + plain * pieces.bias(k);
      }
    }
  }
  return d;
}

template struct RampLines<float>;
template struct RampLines<double>;
template void ramp_forward(const RampLines<float>&, const ShareRow<float>&, int64_t, float*);
template void ramp_forward(const RampLines<double>&, const ShareRow<double>&, int64_t, double*);
template float ramp_backward(const RampLines<float>&, const ShareRow<float>&, const float*, int64_t, RampSums&);
template double ramp_backward(const RampLines<double>&, const ShareRow<double>&, const double*, int64_t, RampSums&);

}  // namespace lengthwise
