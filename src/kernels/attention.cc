#include "kernels/attention.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>

#include "kernels/attention_kernel.h"

namespace lengthwise {
namespace {

using namespace attention_detail;

/// Sequences are dealt to this many groups, whatever the thread count, so that sums over groups have one order.
constexpr int64_t kGroups = 16;

/// The gradient of biases of pairs that sequences share is as large for each group as attention's scores: there are
/// only so many groups that these units, each a head of one, keep threads busy, and all of them take at most so many
/// numbers.
constexpr int64_t kSharedUnits = 16;
constexpr int64_t kMostPartialSums = int64_t{1} << 21;

/// Calls body(sequence, head, group, workspace) for every sequence and head, in parallel over fixed groups.
template <class T, class Body>
void for_each_head(const Shape& shape, int64_t groups, int64_t padded_dim, bool backward, const Body& body) {
  at::parallel_for(0, groups * shape.heads, 1, [&](int64_t from, int64_t to) {
    thread_local Workspace<T> workspace;
    workspace.size_for(shape.longest, padded_dim, backward);
    for (int64_t unit = from; unit < to; ++unit) {
      const int64_t group = unit / shape.heads;
      const int64_t first = shape.sequences * group / groups;
      const int64_t last = shape.sequences * (group + 1) / groups;
      for (int64_t sequence = first; sequence < last; ++sequence) {
        body(sequence, unit % shape.heads, group, workspace);
      }
    }
  });
}

/// Calls function.template operator()<T, S, kDim>() for the types of the tensor and the head's padded width.
template <class Function>
void dispatch(const AttentionInputs& in, const Shape& shape, const Function& function) {
  with_storage(in.qkv, [&]<class T, class S>() {
    if (shape.dim <= 16) return function.template operator()<T, S, 16>();
    if (shape.dim <= 32) return function.template operator()<T, S, 32>();
    if (shape.dim <= 64) return function.template operator()<T, S, 64>();
    return function.template operator()<T, S, 128>();
  });
}

}  // namespace

void attention_forward(const AttentionInputs& in, at::Tensor& out, at::Tensor& log_sum) {
  const Shape shape = shape_of(in);
  if (shape.tokens == 0) return;
  dispatch(in, shape, [&]<class T, class S, int64_t kDim>() {
    const Kernel<T, S, kDim> kernel(in, shape);
    S* out_data = stored_mutable<S>(out);
    T* log_sum_data = log_sum.data_ptr<T>();
    for_each_head<T>(shape, std::min(kGroups, shape.sequences), kDim, false,
                     [&](int64_t sequence, int64_t head, int64_t, Workspace<T>& w) {
                       kernel.forward(sequence, head, w, out_data, log_sum_data);
                     });
  });
}

void attention_backward(const AttentionInputs& in, const at::Tensor& log_sum, const at::Tensor& d_out,
                        AttentionGradients& gradients) {
  const Shape shape = shape_of(in);
  LENGTHWISE_CHECK(gradients.qkv.stride(0) == shape.row, "rows of d_qkv are {} apart and those of qkv {}",
                   gradients.qkv.stride(0), shape.row);
  if (shape.tokens == 0) return;
  // What all sequences share is summed in each group by itself, then over the groups; a sequence's own has one writer.
  int64_t groups = std::min(kGroups, shape.sequences);
  const bool shared = gradients.dense.defined() && gradients.dense.size(0) == 1;
  if (shared) {
    const int64_t wanted = (kSharedUnits + shape.heads - 1) / shape.heads;
    groups = std::clamp<int64_t>(std::min(wanted, kMostPartialSums / gradients.dense.numel()), 1, groups);
  }
  at::Tensor table_parts, dense_parts;
  if (gradients.table.defined()) table_parts = at::zeros({groups, shape.heads, shape.distances}, log_sum.options());
  // The first group adds to the gradient itself.
  if (shared) dense_parts = at::zeros({groups - 1, shape.heads, shape.places, shape.places}, log_sum.options());
  dispatch(in, shape, [&]<class T, class S, int64_t kDim>() {
    const Kernel<T, S, kDim> kernel(in, shape);
    const T* log_sum_data = log_sum.const_data_ptr<T>();
    const S* d_out_data = stored<S>(d_out);
    const auto data = [](const at::Tensor& tensor) { return tensor.defined() ? tensor.data_ptr<T>() : nullptr; };
    HeadGradients<T, S> to{stored_mutable<S>(gradients.qkv), nullptr, data(gradients.query_scale),
                           data(gradients.key_bias), nullptr};
    T* const tables = data(table_parts);
    T* const dense = data(gradients.dense);
    T* const parts = data(dense_parts);
    for_each_head<T>(shape, groups, kDim, true, [&](int64_t sequence, int64_t head, int64_t group, Workspace<T>& w) {
      HeadGradients<T, S> own = to;
      if (tables != nullptr) own.table = tables + (group * shape.heads + head) * shape.distances;
      if (dense != nullptr) {
        const bool apart = shared && group > 0;
        const int64_t block = (apart ? group - 1 : shared ? 0 : sequence) * shape.heads + head;
        own.dense = (apart ? parts : dense) + block * shape.places * shape.places;
      }
      kernel.backward(sequence, head, w, log_sum_data, d_out_data, own);
    });
  });
  if (gradients.table.defined()) gradients.table.add_(table_parts.sum(0));
  if (shared) {
    for (const at::Tensor& part : dense_parts.unbind()) gradients.dense.add_(part);
  }
}

}  // namespace lengthwise
