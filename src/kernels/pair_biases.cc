#include "kernels/pair_biases.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "core/error.h"

namespace lengthwise {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Gradients are summed over so many groups of queries, and then over the groups.
constexpr int64_t kGroups = 16;

/// Where in the table the distances of one query to all keys lie.
template <class T>
struct Row {
  explicit Row(int64_t keys) : below(static_cast<size_t>(keys)), share(static_cast<size_t>(keys)) {}

  void place(int64_t query, const int64_t* keys, int64_t last) {
    const auto count = static_cast<int64_t>(below.size());
    int32_t* to = below.data();
    for (int64_t j = 0; j < count; ++j)
      to[j] = static_cast<int32_t>(std::min(std::max<int64_t>(query - keys[j], 0), last));
    mixed = false;
    find_end();
  }
  void place(double query, const double* keys, int64_t last) {
    const auto count = static_cast<int64_t>(below.size());
    for (int64_t j = 0; j < count; ++j) {
      const double distance = std::min(std::max(query - keys[j], 0.0), static_cast<double>(last));
      const auto whole = static_cast<int32_t>(distance);
      below[static_cast<size_t>(j)] = whole;
      share[static_cast<size_t>(j)] = static_cast<T>(distance - whole);
    }
    mixed = true;
    find_end();
  }

  std::vector<int32_t> below;  ///< the distance, cut to a whole one
  std::vector<T> share;        ///< what the one above it has, if `mixed`
  bool mixed = false;
  int64_t end = 0;  ///< keys from here on are at distance 0, like all that are still to come

 private:
  void find_end() {
    end = static_cast<int64_t>(below.size());
    while (end > 0 && below[static_cast<size_t>(end - 1)] == 0 && !(mixed && share[static_cast<size_t>(end - 1)] > 0))
      --end;
  }
};

/// y of one query and head.
template <class T>
void look_up(const Row<T>& row, const T* table, T* y) {
  const int32_t* below = row.below.data();
  const T* share = row.share.data();
  if (row.mixed) {
    // The share is 0 at the table's end, where nothing stands above.
    for (int64_t j = 0; j < row.end; ++j)
      y[j] = share[j] > 0 ? table[below[j]] * (1 - share[j]) + table[below[j] + 1] * share[j] : table[below[j]];
  } else {
    for (int64_t j = 0; j < row.end; ++j) y[j] = table[below[j]];
  }
  std::fill(y + row.end, y + row.below.size(), table[0]);
}

/// Adds the gradient of one query and head to that of the table.
template <class T>
void add_up(const Row<T>& row, const T* d_y, double* sums) {
  const int32_t* below = row.below.data();
  const T* share = row.share.data();
  const auto count = static_cast<int64_t>(row.below.size());
  for (int64_t j = 0; j < row.end; ++j) {
    const double gradient = d_y[j];
    if (row.mixed && share[j] > 0) {
      sums[below[j]] += gradient * (1 - share[j]);
      sums[below[j] + 1] += gradient * share[j];
    } else {
      sums[below[j]] += gradient;
    }
  }
  double rest = 0;
  for (int64_t j = row.end; j < count; ++j) rest += d_y[j];
  sums[0] += rest;
}

/// Calls function(row, where y of head 0 begins) for the queries from `first` to before `last` among those of all
/// sequences.
template <class T, class P, class Function>
void for_each_query(const PairPlaces& places, int64_t heads, int64_t distances, int64_t first, int64_t last,
                    const Function& function) {
  const int64_t queries = places.queries.size(1), keys = places.keys.size(1);
  Row<T> row(keys);
  for (int64_t query = first; query < last; ++query) {
    const int64_t sequence = query / queries;
    row.place(places.queries.const_data_ptr<P>()[query], places.keys.const_data_ptr<P>() + sequence * keys,
              distances - 1);
    function(row, (sequence * heads * queries + query % queries) * keys);
  }
}

/// Calls function.template operator()<T, P>() for the type of the table and that of positions.
template <class Function>
void dispatch(const at::Tensor& table, const PairPlaces& places, const Function& function) {
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "pair_biases", [&] {
    if (places.queries.scalar_type() == at::kLong) return function.template operator()<scalar_t, int64_t>();
    return function.template operator()<scalar_t, double>();
  });
}

struct PairBiases : torch::autograd::Function<PairBiases> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& table, const at::Tensor& queries,
                            const at::Tensor& keys) {
    context->save_for_backward({table, queries, keys});
    const PairPlaces places{queries, keys};
    const int64_t heads = table.size(0), distances = table.size(1), apart = queries.size(1) * keys.size(1);
    at::Tensor y = at::empty({queries.size(0), heads, queries.size(1), keys.size(1)}, table.options());
    dispatch(table, places, [&]<class T, class P>() {
      const T* from = table.const_data_ptr<T>();
      T* to = y.mutable_data_ptr<T>();
      at::parallel_for(0, queries.numel(), 8, [&](int64_t first, int64_t last) {
        for_each_query<T, P>(places, heads, distances, first, last, [&](const Row<T>& row, int64_t begin) {
          for (int64_t head = 0; head < heads; ++head) look_up(row, from + head * distances, to + begin + head * apart);
        });
      });
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const PairPlaces places{saved[1], saved[2]};
    const int64_t heads = saved[0].size(0), distances = saved[0].size(1);
    const int64_t queries = places.queries.numel(), apart = places.queries.size(1) * places.keys.size(1);
    const at::Tensor d_y = gradients[0].contiguous();
    at::Tensor parts = at::zeros({kGroups, heads, distances}, d_y.options().dtype(at::kDouble));
    dispatch(saved[0], places, [&]<class T, class P>() {
      const T* from = d_y.const_data_ptr<T>();
      double* to = parts.mutable_data_ptr<double>();
      at::parallel_for(0, kGroups, 1, [&](int64_t first_group, int64_t last_group) {
        for (int64_t group = first_group; group < last_group; ++group) {
          double* sums = to + group * heads * distances;
          for_each_query<T, P>(places, heads, distances, queries * group / kGroups, queries * (group + 1) / kGroups,
                               [&](const Row<T>& row, int64_t begin) {
                                 for (int64_t head = 0; head < heads; ++head)
                                   add_up(row, from + begin + head * apart, sums + head * distances);
                               });
        }
      });
    });
    return {parts.sum(0).to(saved[0].scalar_type()), {}, {}};
  }
};

}  // namespace

at::Tensor plain_pair_biases(const at::Tensor& table, const PairPlaces& places) {
  // Keys that are still to come are masked whatever stands here.
  const at::Tensor distance = (places.queries.unsqueeze(-1) - places.keys.unsqueeze(-2)).clamp_min(0);
  const auto at_whole = [&](const at::Tensor& whole) {
    const at::Tensor index = whole.clamp_max(table.size(1) - 1).to(at::kLong);
    return table.index({at::indexing::Slice(), index}).transpose(0, 1);
  };
  if (!distance.is_floating_point()) return at_whole(distance);
  const at::Tensor below = distance.floor();
  const at::Tensor share = (distance - below).unsqueeze(1).to(table.scalar_type());
  return at_whole(below) * (1 - share) + at_whole(below + 1) * share;
}

at::Tensor pair_biases(const at::Tensor& table, const PairPlaces& places) {
  LENGTHWISE_CHECK(
      places.keys.size(0) == places.queries.size(0) && places.keys.scalar_type() == places.queries.scalar_type(),
      "keys of {} sequences for queries of {}", places.keys.size(0), places.queries.size(0));
  return PairBiases::apply(table.contiguous(), places.queries.contiguous(), places.keys.contiguous());
}

}  // namespace lengthwise
