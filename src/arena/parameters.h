#pragma once
/// All parameters of a model as views into one flat tensor, with their gradients in a second one.
///
/// Zeroing, measuring, clipping and updating are then single passes over memory that never moves, and a checkpoint is
/// one write. Weights of matrix products stand in front and parameters that weight decay exempts at the end, so that
/// each kind is one contiguous part.
///
/// Order of life: `add` every parameter, `allocate` once, use. A `Parameter&` stays valid; its tensors are defined
/// after `allocate`.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/rng.h"

namespace lengthwise {

/// A block of columns drawn from one normal distribution.
struct NormalBlock {
  int64_t columns = 0;
  double deviation = 0;
};

/// How a parameter starts: every element `constant`, or normal with a deviation per block of columns, or given values.
struct Initial {
  double constant = 0;
  std::vector<NormalBlock> blocks;
  std::vector<double> values;

  static Initial all(double value) { return {.constant = value, .blocks = {}, .values = {}}; }
  static Initial normal(double deviation) { return {.constant = 0, .blocks = {{0, deviation}}, .values = {}}; }
  static Initial columns(std::vector<NormalBlock> blocks) {
    return {.constant = 0, .blocks = std::move(blocks), .values = {}};
  }
  static Initial given(std::vector<double> values) {
    return {.constant = 0, .blocks = {}, .values = std::move(values)};
  }
};

struct Parameter {
  std::string name;
  std::vector<int64_t> shape;
  Initial initial;
  bool decay = true;     ///< whether weight decay applies
  bool product = false;  ///< whether it is used in matrix products alone; subject to weight decay then
  at::Tensor value;      ///< a leaf that requires a gradient
  at::Tensor gradient;   ///< also value.grad(): autograd adds into it

  int64_t numel() const;
};

class Parameters {
 public:
  /// Names are keys of the files that hold the weights: no two parameters have the same one.
  Parameter& add(std::string name, std::vector<int64_t> shape, Initial initial, bool decay = true);
  /// A weight that is used in matrix products alone.
  Parameter& add_product(std::string name, std::vector<int64_t> shape, Initial initial);

  /// Lays all parameters out on the device and initialises them. A parameter's numbers depend on the seed and its name
  /// alone.
  void allocate(at::ScalarType type, const Rng& rng, at::Device device = at::kCPU);
  /// The same with zeros, for those who only ask what is made of them, or bring values of their own.
  void allocate_zeros(at::ScalarType type, at::Device device = at::kCPU);
  /// As a new model's: from this seed, or zeros where there is none.
  void allocate_for(std::optional<uint64_t> seed, at::ScalarType type, at::Device device);

  const at::Tensor& values() const { return values_; }        ///< [parameter]
  const at::Tensor& gradients() const { return gradients_; }  ///< [parameter]
  int64_t decayed() const { return decayed_; }                ///< how many at the front are subject to weight decay
  int64_t products() const { return products_; }              ///< how many at the very front are of matrix products
  int64_t count() const { return count_; }

  std::deque<Parameter>& all() { return parameters_; }
  const std::deque<Parameter>& all() const { return parameters_; }

 private:
  std::deque<Parameter> parameters_;
  std::unordered_set<std::string> names_;
  at::Tensor values_, gradients_;
  int64_t decayed_ = 0;
  int64_t products_ = 0;
  int64_t count_ = 0;
};

/// Fills with normal numbers of mean 0: Box-Muller over the draws of a new generator, in order, whoever makes them.
void fill_normal(const Rng& rng, double deviation, double* out, int64_t count);

}  // namespace lengthwise
