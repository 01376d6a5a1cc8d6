#pragma once
/// How a kernel's activations lie in memory: as the type it computes in, or as bfloat16 beside float arithmetic.
///
/// bfloat16 is the upper half of a float. Kernels read it exactly and round to nearest even when they write; sums,
/// softmax and norm statistics are always made in the computing type.
#include <ATen/core/Tensor.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/error.h"

namespace lengthwise {

/// One bfloat16 in memory; conversions are plain integer arithmetic, so that loops over them vectorise.
struct Bf16 {
  uint16_t bits;

  Bf16() = default;
  explicit Bf16(float value) {
    const auto whole = std::bit_cast<uint32_t>(value);
    bits = static_cast<uint16_t>((whole + 0x7fffu + ((whole >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};
static_assert(sizeof(Bf16) == 2 && std::is_trivially_copyable_v<Bf16>);

template <class S>
const S* stored(const at::Tensor& tensor) {
  return static_cast<const S*>(tensor.const_data_ptr());
}
template <class S>
S* stored_mutable(at::Tensor& tensor) {
  return static_cast<S*>(tensor.mutable_data_ptr());
}

/// Calls function.template operator()<T, S>() with the computing type T and the storage type S of such a tensor:
/// (float, float), (double, double) or (float, Bf16).
template <class Function>
void with_storage(const at::Tensor& tensor, const Function& function) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return function.template operator()<float, float>();
    case at::kDouble:
      return function.template operator()<double, double>();
    case at::kBFloat16:
      return function.template operator()<float, Bf16>();
    default:
      LENGTHWISE_CHECK(false, "a kernel takes float, double or bfloat16");
  }
}

/// The same for two tensors of one computing type: operator()<T, S of the first, S of the second>(). An undefined
/// second one counts as stored like the first.
template <class Function>
void with_storages(const at::Tensor& first, const at::Tensor& second, const Function& function) {
  with_storage(first, [&]<class T, class S>() {
    with_storage(second.defined() ? second : first, [&]<class U, class R>() {
      if constexpr (std::is_same_v<T, U>) {
        function.template operator()<T, S, R>();
      } else {
        LENGTHWISE_CHECK(false, "two tensors of a kernel have different computing types");
      }
    });
  });
}

}  // namespace lengthwise
