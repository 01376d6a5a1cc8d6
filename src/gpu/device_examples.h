#pragma once
/// The training set on the device: the token array, and the orders of the epochs that the coming steps draw from.
#include <ATen/core/Tensor.h>

#include "batch/assemble.h"
#include "gpu_kernels/assemble.h"

namespace lengthwise {

class DeviceExamples {
 public:
  DeviceExamples(const TokenSet& examples, const EpochOrder& order);

  gpu::DeviceTokens tokens() const;
  gpu::DeviceOrder order() const;

  /// Uploads the orders of the epochs that `step` reaches and that are not there yet, behind the steps launched before.
  /// Steps come in ascending order.
  void load_orders(EpochOrder& order, int64_t step);

 private:
  int64_t count_;
  at::Tensor tokens_, offsets_, prompt_tokens_;
  at::Tensor orders_;        ///< [row, example]: epoch e is in row e % rows
  int64_t next_epoch_ = -1;  ///< the first that is not there; -1: none is
};

}  // namespace lengthwise
