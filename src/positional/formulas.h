#pragma once
/// Formulas that several encodings, analyses and constructions share.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lengthwise {

/// base^(-2j/width), j = 0..width/2-1, in double: the frequencies that sinusoids and rotations share.
at::Tensor geometric_frequencies(int64_t width, double base, at::Device device = at::kCPU);

/// [.., width]: sines of position * frequency in the first half, cosines in the second. In double.
at::Tensor sinusoids(const at::Tensor& positions, int64_t width);

/// T5's bucket of a distance: exact below half the buckets, then logarithmic up to max_distance.
int64_t t5_bucket(int64_t distance, int64_t buckets, int64_t max_distance);

/// ALiBi's slopes: 2^(-8(h+1)/H) for a power of two; otherwise those of the power below, then every second one of the
/// power above (so they are not monotone).
std::vector<double> alibi_slopes(int64_t heads);

/// [head, distance]: minus slope [head] times distance. The study adds slope times key index instead, which differs by
/// a constant per query that the softmax removes.
at::Tensor alibi_table(const at::Tensor& slopes, int64_t distances);

/// [head, distance]: minus factor [head] times distance to the power exponent [head], which is above 0.
at::Tensor power_table(const at::Tensor& factor, const at::Tensor& exponent, int64_t distances);

}  // namespace lengthwise
