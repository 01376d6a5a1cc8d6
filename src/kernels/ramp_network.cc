#include "kernels/ramp_network.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/error.h"
#include "kernels/ramp_pieces.h"

namespace lengthwise {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Gradients are summed over so many groups of rows, and then over the groups.
constexpr int64_t kGroups = 16;

template <class T>
std::span<const T> values_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), static_cast<size_t>(tensor.numel())};
}

template <class T>
void store(const std::vector<double>& values, at::Tensor& to) {
  std::ranges::transform(values, to.mutable_data_ptr<T>(), [](double value) { return static_cast<T>(value); });
}

/// The row of a query among those of all sequences.
template <class T>
ShareRow<T> row_of(const variable_list& saved, int64_t row) {
  const at::Tensor &scale = saved[0], &queries = saved[1], &keys = saved[2], &reach = saved[3];
  const int64_t sequence = row / queries.size(1);
  return {scale.const_data_ptr<T>(), queries.const_data_ptr<int64_t>()[row],
          keys.const_data_ptr<int64_t>() + sequence * keys.size(1), keys.size(1), reach.const_data_ptr<T>()[row]};
}

template <class T>
RampPieces pieces_of(const variable_list& saved) {
  return RampPieces(values_of<T>(saved[4]), values_of<T>(saved[5]), values_of<T>(saved[6]));
}

/// Where the results of a row begin in [batch, result, query, key], and how far apart they are.
struct Results {
  Results(const variable_list& saved, int64_t row)
      : apart(saved[1].size(1) * saved[2].size(1)),
        begin(row / saved[1].size(1) * saved[6].size(1) * apart + row % saved[1].size(1) * saved[2].size(1)) {}
  int64_t apart, begin;
};

struct RampRun : torch::autograd::Function<RampRun> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& scale, const at::Tensor& queries,
                            const at::Tensor& keys, const at::Tensor& reach, const at::Tensor& in,
                            const at::Tensor& bias, const at::Tensor& out) {
    const variable_list saved{scale, queries, keys, reach, in, bias, out};
    context->save_for_backward(saved);
    at::Tensor y = at::empty({queries.size(0), out.size(1), queries.size(1), keys.size(1)}, scale.options());
    AT_DISPATCH_FLOATING_TYPES(scale.scalar_type(), "ramp_biases", [&] {
      const RampLines<scalar_t> lines(pieces_of<scalar_t>(saved));
      auto* to = y.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, queries.numel(), 8, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) {
          const Results results(saved, row);
          ramp_forward(lines, row_of<scalar_t>(saved, row), results.apart, to + results.begin);
        }
      });
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor d_y = gradients[0].contiguous();
    at::Tensor d_scale = at::empty_like(saved[0]), d_reach = at::empty_like(saved[3]);
    at::Tensor d_in = at::empty_like(saved[4]), d_bias = at::empty_like(saved[5]), d_out = at::empty_like(saved[6]);
    const int64_t rows = saved[1].numel();
    AT_DISPATCH_FLOATING_TYPES(d_scale.scalar_type(), "ramp_biases", [&] {
      const RampPieces pieces = pieces_of<scalar_t>(saved);
      const RampLines<scalar_t> lines(pieces);
      std::vector<RampSums> parts(kGroups, RampSums(pieces, static_cast<size_t>(d_scale.numel())));
      const auto* given = d_y.const_data_ptr<scalar_t>();
      auto* reaches = d_reach.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, kGroups, 1, [&](int64_t first, int64_t last) {
        for (int64_t group = first; group < last; ++group) {
          for (int64_t row = rows * group / kGroups; row < rows * (group + 1) / kGroups; ++row) {
            const Results results(saved, row);
            reaches[row] = ramp_backward(lines, row_of<scalar_t>(saved, row), given + results.begin, results.apart,
                                         parts[static_cast<size_t>(group)]);
          }
        }
      });
      for (size_t group = 1; group < parts.size(); ++group) parts[0].add(parts[group]);
      const RampGradients found = ramp_gradients(pieces, parts[0]);
      store<scalar_t>(parts[0].scale, d_scale);
      store<scalar_t>(found.in, d_in);
      store<scalar_t>(found.bias, d_bias);
      store<scalar_t>(found.out, d_out);
    });
    return {d_scale, {}, {}, d_reach, d_in, d_bias, d_out};
  }
};

}  // namespace

at::Tensor plain_ramp_network(const at::Tensor& x, const RampNetwork& network) {
  return at::matmul(at::relu(x.unsqueeze(-1) * network.in + network.bias), network.out);
}

at::Tensor plain_ramp_biases(const DistanceShares& shares, const RampNetwork& network) {
  const at::Tensor distance = (shares.queries.unsqueeze(-1) - shares.keys.unsqueeze(-2)).clamp_min(0);
  const at::Tensor x = shares.scale.index({distance}) / shares.reach.unsqueeze(-1);
  return plain_ramp_network(x, network).permute({0, 3, 1, 2});
}

at::Tensor ramp_biases(const DistanceShares& shares, const RampNetwork& network) {
  const auto furthest = (shares.queries.amax() - shares.keys.amin()).item<int64_t>();
  LENGTHWISE_CHECK(furthest < shares.scale.size(0), "{} distances for positions up to {} apart", shares.scale.size(0),
                   furthest);
  return RampRun::apply(shares.scale.contiguous(), shares.queries.contiguous(), shares.keys.contiguous(),
                        shares.reach.contiguous(), network.in.contiguous(), network.bias.contiguous(),
                        network.out.contiguous());
}

}  // namespace lengthwise
