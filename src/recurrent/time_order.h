#pragma once
/// The tokens of a batch in the order in which a recurrent layer reads them: all first tokens, then all second ones,
/// ...
///
/// Within a time the longer sequences stand first, the same ones at every time. The sequences that have a token at time
/// t are then the first of those of time t - 1, so that one step of all of them is one product and nothing is padded.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lengthwise {

struct TimeOrder {
  std::vector<int64_t> counts;  ///< [time] sequences that have a token then; never rises
  std::vector<int64_t> starts;  ///< [time] row of the first of them
  at::Tensor from;              ///< [token] int64: which row of the batch stands here
  at::Tensor to;                ///< [token] int64: where each row of the batch stands here
  std::vector<int64_t> last;    ///< [sequence] row of its last token, in the batch's order of sequences

  int64_t times() const { return static_cast<int64_t>(counts.size()); }
};

/// `offsets` as of a batch (batch/batch.h), on any device; tensors of the result are there.
TimeOrder time_order(const at::Tensor& offsets);

/// Where each time begins.
std::vector<int64_t> starts_of(const std::vector<int64_t>& counts);

}  // namespace lengthwise
