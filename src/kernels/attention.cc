#include "kernels/attention.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>

#include "kernels/attention_kernel.h"

namespace lengthwise {
namespace {

using namespace attention_detail;

/// Sequences are dealt to this many groups, whatever the thread count, so that sums over groups have one order.
constexpr int64_t kGroups = 16;

/// Calls body(sequence, head, group, workspace) for every sequence and head, in parallel over fixed groups.
template <class T, class Body>
void for_each_head(const Shape& shape, int64_t padded_dim, bool backward, const Body& body) {
  const int64_t groups = std::min(kGroups, shape.sequences);
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
    for_each_head<T>(shape, kDim, false, [&](int64_t sequence, int64_t head, int64_t, Workspace<T>& w) {
      kernel.forward(sequence, head, w, out_data, log_sum_data);
    });
  });
}

void attention_backward(const AttentionInputs& in, const at::Tensor& log_sum, const at::Tensor& d_out,
                        at::Tensor& d_qkv, at::Tensor& d_table, const at::Tensor& d_query_scale,
                        const at::Tensor& d_key_bias) {
  const Shape shape = shape_of(in);
  LENGTHWISE_CHECK(d_qkv.stride(0) == shape.row, "rows of d_qkv are {} apart and those of qkv {}", d_qkv.stride(0),
                   shape.row);
  if (shape.tokens == 0) return;
  at::Tensor partial;
  if (d_table.defined())
    partial = at::zeros({std::min(kGroups, shape.sequences), shape.heads, shape.distances}, log_sum.options());
  dispatch(in, shape, [&]<class T, class S, int64_t kDim>() {
    const Kernel<T, S, kDim> kernel(in, shape);
    const T* log_sum_data = log_sum.const_data_ptr<T>();
    const S* d_out_data = stored<S>(d_out);
    S* d_qkv_data = stored_mutable<S>(d_qkv);
    T* partial_data = partial.defined() ? partial.data_ptr<T>() : nullptr;
    T* d_scale_data = d_query_scale.defined() ? d_query_scale.data_ptr<T>() : nullptr;
    T* d_key_bias_data = d_key_bias.defined() ? d_key_bias.data_ptr<T>() : nullptr;
    for_each_head<T>(shape, kDim, true, [&](int64_t sequence, int64_t head, int64_t group, Workspace<T>& w) {
      T* sums = partial_data == nullptr ? nullptr : partial_data + group * shape.heads * shape.distances;
      kernel.backward(sequence, head, w, log_sum_data, d_out_data, d_qkv_data, sums, d_scale_data, d_key_bias_data);
    });
  });
  if (d_table.defined()) d_table.add_(partial.sum(0));
}

}  // namespace lengthwise
