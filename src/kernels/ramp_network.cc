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

/// What the function was called with, in this order.
struct Inputs {
  explicit Inputs(const variable_list& all)
      : scale(all[0]), queries(all[1]), keys(all[2]), reach(all[3]), in(all[4]), bias(all[5]), out(all[6]) {}

  template <class T>
  RampPieces pieces() const {
    return RampPieces(values_of<T>(in), values_of<T>(bias), values_of<T>(out));
  }
  /// Of a query among those of all sequences.
  template <class T>
  ShareRow<T> row(int64_t query) const {
    return {scale.const_data_ptr<T>(), queries.const_data_ptr<int64_t>()[query],
            keys.const_data_ptr<int64_t>() + query / queries.size(1) * keys.size(1), keys.size(1),
            reach.const_data_ptr<T>()[query]};
  }
  /// How far apart the results of a pair are in [batch, result, query, key], and where those of a query begin.
  int64_t apart() const { return queries.size(1) * keys.size(1); }
  int64_t begin(int64_t query) const {
    return query / queries.size(1) * out.size(1) * apart() + query % queries.size(1) * keys.size(1);
  }

  at::Tensor scale, queries, keys, reach, in, bias, out;
};

struct RampRun : torch::autograd::Function<RampRun> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& scale, const at::Tensor& queries,
                            const at::Tensor& keys, const at::Tensor& reach, const at::Tensor& in,
                            const at::Tensor& bias, const at::Tensor& out) {
    const Inputs inputs({scale, queries, keys, reach, in, bias, out});
    context->save_for_backward({scale, queries, keys, reach, in, bias, out});
    at::Tensor y = at::empty({queries.size(0), out.size(1), queries.size(1), keys.size(1)}, scale.options());
    AT_DISPATCH_FLOATING_TYPES(scale.scalar_type(), "ramp_biases", [&] {
      const RampLines<scalar_t> lines(inputs.pieces<scalar_t>());
      auto* to = y.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, queries.numel(), 8, [&](int64_t first, int64_t last) {
        for (int64_t query = first; query < last; ++query)
          ramp_forward(lines, inputs.row<scalar_t>(query), inputs.apart(), to + inputs.begin(query));
      });
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Inputs inputs(context->get_saved_variables());
    const at::Tensor d_y = gradients[0].contiguous();
    at::Tensor d_scale = at::empty_like(inputs.scale), d_reach = at::empty_like(inputs.reach);
    at::Tensor d_in = at::empty_like(inputs.in), d_bias = at::empty_like(inputs.bias);
    at::Tensor d_out = at::empty_like(inputs.out);
    const int64_t queries = inputs.queries.numel();
    AT_DISPATCH_FLOATING_TYPES(d_scale.scalar_type(), "ramp_biases", [&] {
      const RampPieces pieces = inputs.pieces<scalar_t>();
      const RampLines<scalar_t> lines(pieces);
      std::vector<RampSums> parts(kGroups, RampSums(pieces, static_cast<size_t>(d_scale.numel())));
      const auto* given = d_y.const_data_ptr<scalar_t>();
      auto* reaches = d_reach.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, kGroups, 1, [&](int64_t first, int64_t last) {
        for (int64_t group = first; group < last; ++group) {
          for (int64_t query = queries * group / kGroups; query < queries * (group + 1) / kGroups; ++query) {
            reaches[query] = ramp_backward(lines, inputs.row<scalar_t>(query), given + inputs.begin(query),
                                           inputs.apart(), parts[static_cast<size_t>(group)]);
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
  LENGTHWISE_CHECK(shares.keys.size(0) == shares.queries.size(0) && shares.reach.sizes() == shares.queries.sizes(),
                   "keys of {} sequences for queries of {}", shares.keys.size(0), shares.queries.size(0));
  const auto furthest = (shares.queries.amax() - shares.keys.amin()).item<int64_t>();
  LENGTHWISE_CHECK(furthest < shares.scale.size(0), "{} distances for positions up to {} apart", shares.scale.size(0),
                   furthest);
  return RampRun::apply(shares.scale.contiguous(), shares.queries.contiguous(), shares.keys.contiguous(),
                        shares.reach.contiguous(), network.in.contiguous(), network.bias.contiguous(),
                        network.out.contiguous());
}

}  // namespace lengthwise
