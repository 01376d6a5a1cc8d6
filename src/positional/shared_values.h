#pragma once
/// What an encoding makes for all of its layers in one operation, kept for the layers that ask after the first. On a
/// GPU a dozen small operations, and as many on the way back, cost more than what they compute.
#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace lengthwise {

class SharedValues {
 public:
  /// Of `owner` for these positions, by layer; made when they are asked for first, and kept until the owner asks about
  /// others. Its parameters must not change while these values live.
  const std::vector<at::Tensor>& of(const void* owner, const at::Tensor& positions,
                                    const std::function<std::vector<at::Tensor>()>& make);

 private:
  struct Kept {
    const void* owner;
    at::Tensor positions;
    std::vector<at::Tensor> by_layer;
  };
  std::vector<Kept> kept_;
};

}  // namespace lengthwise
