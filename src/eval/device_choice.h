#pragma once
/// Where a model runs, between what was asked for, what is there and what the GPU's kernels can do.
#include <string>

namespace lengthwise {

struct DeviceChoice {
  std::string device;  ///< cpu or cuda
  std::string note;    ///< one line for the user when a GPU is there and not used; else empty
};

/// `asked`: cpu, cuda or auto; `here`: what that means on this machine (device_here); `refusal`: why the GPU does not
/// run the model (gpu_refuses), or empty. UserError where somebody insists on a GPU that refuses.
DeviceChoice choose_device(const std::string& asked, const std::string& here, const std::string& refusal);

}  // namespace lengthwise
