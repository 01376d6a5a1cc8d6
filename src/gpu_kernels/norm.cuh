#pragma once
/// What both directions of a norm share: how a row lies on threads, and which of these shapes a width takes. kRow
/// threads share a row; each holds kChunks times four neighbouring elements of it.
#include <string>

#include "gpu_kernels/device.cuh"
#include "gpu_kernels/limits.h"
#include "gpu_kernels/norm.h"

namespace lengthwise::gpu {

inline constexpr int kNormBlock = 256;

/// Calls run.template operator()<type in memory, kRow, kChunks>(), unless there is no row.
template <class Args, class Run>
void with_norm_shape(const Args& args, const Run& run) {
  require(runs_width(args.width), "RMSNorm on the GPU wants a width that is a multiple of 4 and at most 8192, not " +
                                      std::to_string(args.width));
  if (args.capacity == 0) return;
  const auto with_type = [&]<class T>() {
    const int64_t chunks = (args.width + 127) / 128;
    if (chunks <= 1) return run.template operator()<T, 32, 1>();
    if (chunks <= 2) return run.template operator()<T, 32, 2>();
    if (chunks <= 4) return run.template operator()<T, 32, 4>();
    if (chunks <= 6) return run.template operator()<T, 32, 6>();
    if (chunks <= 8) return run.template operator()<T, 32, 8>();
    if (chunks <= 16) return run.template operator()<T, 256, 2>();
    if (chunks <= 32) return run.template operator()<T, 256, 4>();
    run.template operator()<T, 256, 8>();
  };
  if (args.storage == Storage::float32) return with_type.template operator()<float>();
  with_type.template operator()<bf16>();
}

}  // namespace lengthwise::gpu
