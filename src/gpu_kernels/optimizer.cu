#include <algorithm>

#include "gpu_kernels/device.cuh"
#include "gpu_kernels/optimizer.h"
#include "gpu_kernels/split_values.cuh"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;

__device__ double learning_rate(int64_t step, const Optimizer& args) {
  const auto at = static_cast<double>(step);
  if (step < args.warmup) return args.peak * at / static_cast<double>(args.warmup);
  if (step >= args.steps) return args.end;
  const double span = static_cast<double>(max(static_cast<int64_t>(1), args.steps - args.warmup));
  return args.end + (args.peak - args.end) * (1.0 - static_cast<double>(step - args.warmup) / span);
}

/// By one thread, when the sums are known.
__device__ void decide(const Optimizer& args, double squares, double loss_sum) {
  StepState& state = *args.state;
  const double norm = sqrt(squares);
  int64_t tokens = state.tokens, targets = state.targets;
  if (args.in_parts) {
    tokens = state.part_tokens;
    targets = state.part_targets;
    loss_sum = state.part_losses;
    state.part = 0;
  }
  const double loss = targets > 0 ? loss_sum / static_cast<double>(targets) : 0.0;
  if (state.flags == 0) {
    state.norm = norm;
    state.loss = loss;
  }
  if (!isfinite(norm) || !isfinite(loss)) state.flags |= kNotFinite;
  if (state.flags != 0) return;
  const double lr = learning_rate(state.step, args);
  const auto count = static_cast<double>(state.step + 1);
  state.lr = lr;
  state.gradient_scale = static_cast<float>(args.clip > 0 && norm > args.clip ? args.clip / (norm + 1e-6) : 1.0);
  state.rate = static_cast<float>(lr * sqrt(1 - pow(args.beta2, count)) / (1 - pow(args.beta1, count)));
  state.shrink = static_cast<float>(lr * args.weight_decay);
  state.step += 1;
  state.tokens_seen += tokens;
}

/// Four neighbouring gradients, wherever they are.
__device__ __forceinline__ float4 gradients_at(const Optimizer& args, int64_t vector) {
  if (4 * vector < args.rounded) return widen(fetch(static_cast<const bf16*>(args.rounded_gradients) + 4 * vector));
  return reinterpret_cast<const float4*>(args.gradients)[vector];
}

__device__ __forceinline__ float square(float4 g) {
  return g.x * g.x + g.y * g.y + (g.z * g.z + g.w * g.w);
}

__global__ void __launch_bounds__(kBlock) squares_kernel(const uint4* gradients, int64_t vectors, double* sums) {
  begin();
  __shared__ double scratch[kBlock / 32];
  constexpr int kAtOnce = 4;
  const auto stride = static_cast<int64_t>(gridDim.x) * kBlock;
  double sum = 0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x; i < vectors; i += kAtOnce * stride) {
    uint4 held[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      held[k] = i + k * stride < vectors ? gradients[i + k * stride] : make_uint4(0, 0, 0, 0);
    }
    float part = 0;
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      part += square(widen(make_uint2(held[k].x, held[k].y))) + square(widen(make_uint2(held[k].z, held[k].w)));
    }
    sum += static_cast<double>(part);
  }
  sum = block_sum<kBlock>(sum, scratch);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kBlock) norm_kernel(Optimizer args) {
  begin();
  __shared__ double scratch[kBlock / 32];
  __shared__ bool is_last;
  const int64_t vectors = args.count / 4;
  const auto stride = static_cast<int64_t>(gridDim.x) * kBlock;
  double sum = 0;
  int64_t i = args.squared / 4 + static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  for (; i + 3 * stride < vectors; i += 4 * stride) {
    float4 held[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) held[k] = gradients_at(args, i + k * stride);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += static_cast<double>(square(held[k]));
  }
  for (; i < vectors; i += stride) sum += static_cast<double>(square(gradients_at(args, i)));
  if (blockIdx.x == 0 && 4 * vectors + threadIdx.x < args.count) {
    const auto rest = static_cast<double>(args.gradients[4 * vectors + threadIdx.x]);
    sum += rest * rest;
  }
  sum = block_sum<kBlock>(sum, scratch);
  if (threadIdx.x == 0) {
    args.sums[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(&args.state->ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  // Whichever block comes last, it adds the same numbers in the same order.
  __threadfence();
  double squares = 0;
  for (int64_t b = threadIdx.x; b < args.square_count; b += kBlock) squares += args.squares[b];
  for (int b = static_cast<int>(threadIdx.x); b < static_cast<int>(gridDim.x); b += kBlock)
    squares += __ldcg(args.sums + b);
  squares = block_sum<kBlock>(squares, scratch);
  double losses = 0;
  const int targets = args.losses != nullptr && !args.in_parts ? args.state->targets : 0;
  for (int t = static_cast<int>(threadIdx.x); t < targets; t += kBlock) losses += static_cast<double>(args.losses[t]);
  losses = block_sum<kBlock>(losses, scratch);
  if (threadIdx.x != 0) return;
  decide(args, squares, losses);
  args.state->ticket = 0;
}

/// What an update multiplies with, from the host's doubles and the step's state. With part = (1 - beta1) g, what the
/// first moment gets, the second one gets (1 - beta2) g^2 = mixed part^2; `fresh` is 1 - beta1.
struct Rates {
  float beta1, fresh, beta2, mixed, epsilon, rate, shrink;
};

Rates rates_of(const Optimizer& args) {
  const double fresh = 1 - args.beta1;
  return {.beta1 = static_cast<float>(args.beta1),
          .fresh = static_cast<float>(fresh),
          .beta2 = static_cast<float>(args.beta2),
          .mixed = static_cast<float>((1 - args.beta2) / (fresh * fresh)),
          .epsilon = static_cast<float>(args.epsilon),
          .rate = 0,
          .shrink = 0};
}

__device__ __forceinline__ void update_one(const Rates& rates, bool decays, float gradient, float& value, float& first,
                                           float& second) {
  const float part = rates.fresh * gradient;
  first = rates.beta1 * first + part;
  second = rates.beta2 * second + rates.mixed * part * part;
  const float moved = value - rates.rate * first * reciprocal_fast(root_fast(second) + rates.epsilon);
  value = decays ? moved - rates.shrink * moved : moved;
}

constexpr int kVectors = 2;  ///< of one thread, in each of the arrays

/// Four values, or gradients, as they lie in memory: turned into floats only when all loads are under way.
union Held {
  float4 whole;
  SplitFour halves;  ///< a value
  uint2 rounded;     ///< a gradient
};

/// The vectors of one thread. `kUniform`: all of the block are split, have bfloat16 gradients and decay, which is true
/// of nearly all blocks and need not be asked for each vector then.
template <bool kUniform>
__device__ __forceinline__ void update_vectors(const Optimizer& args, Rates rates, int64_t begin_at) {
  const int64_t vectors = args.count / 4;
  float4* values = reinterpret_cast<float4*>(args.values) + begin_at;
  float4* first = reinterpret_cast<float4*>(args.first) + begin_at;
  float4* second = reinterpret_cast<float4*>(args.second) + begin_at;
  uint2* mirror = static_cast<uint2*>(args.mirror) + begin_at;
  uint2* low = reinterpret_cast<uint2*>(args.low) + begin_at;
  const auto* rounded_gradients = static_cast<const uint2*>(args.rounded_gradients) + begin_at;
  const auto* gradients = reinterpret_cast<const float4*>(args.gradients) + begin_at;
  const auto exists = [&](int64_t i) { return kUniform || begin_at + i < vectors; };
  const auto is_rounded = [&](int64_t i) { return kUniform || begin_at + i < args.rounded / 4; };
  const auto is_split = [&](int64_t i) { return kUniform || (args.low != nullptr && is_rounded(i)); };
  Held g[kVectors], p[kVectors];
  float4 m[kVectors], v[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int64_t i = k * kBlock;
    if (!exists(i)) continue;
    if (is_rounded(i)) {
      g[k].rounded = rounded_gradients[i];
    } else {
      g[k].whole = gradients[i];
    }
    if (is_split(i)) {
      p[k].halves.mirror = mirror[i];
      p[k].halves.low = low[i];
    } else {
      p[k].whole = values[i];
    }
    m[k] = first[i];
    v[k] = second[i];
  }
  const bool sound = args.state->flags == 0;
  rates.fresh *= args.state->gradient_scale;
  rates.rate = args.state->rate;
  rates.shrink = args.state->shrink;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int64_t i = k * kBlock;
    if (!exists(i)) continue;
    float4 value = is_split(i) ? join_four(p[k].halves) : p[k].whole;
    const float4 gradient = is_rounded(i) ? widen(g[k].rounded) : g[k].whole;
    const auto decays = [&](int64_t j) { return kUniform || 4 * (begin_at + i) + j < args.decayed; };
    update_one(rates, decays(0), gradient.x, value.x, m[k].x, v[k].x);
    update_one(rates, decays(1), gradient.y, value.y, m[k].y, v[k].y);
    update_one(rates, decays(2), gradient.z, value.z, m[k].z, v[k].z);
    update_one(rates, decays(3), gradient.w, value.w, m[k].w, v[k].w);
    store_if(sound, first + i, m[k]);
    store_if(sound, second + i, v[k]);
    if (is_split(i)) {
      const SplitFour halves = split_four(value);
      store_if(sound, mirror + i, halves.mirror);
      store_if(sound, low + i, halves.low);
    } else {
      store_if(sound, values + i, value);
      const uint2 copy = make_uint2(pack(value.x, value.y), pack(value.z, value.w));
      store_if(sound && args.mirror != nullptr, mirror + i, copy);
    }
  }
  if constexpr (!kUniform) {
    const int64_t rest = 4 * vectors + threadIdx.x;
    if (!sound || blockIdx.x != gridDim.x - 1 || rest >= args.count) return;
    update_one(rates, rest < args.decayed, args.gradients[rest], args.values[rest], args.first[rest],
               args.second[rest]);
    if (args.mirror != nullptr) static_cast<bf16*>(args.mirror)[rest] = from_float<bf16>(args.values[rest]);
  }
}

/// The first `uniform` blocks update uniform vectors (update_vectors).
__global__ void __launch_bounds__(kBlock, 4) update_kernel(Optimizer args, Rates rates, unsigned uniform) {
  begin();
  const int64_t begin_at = static_cast<int64_t>(blockIdx.x) * kBlock * kVectors + threadIdx.x;
  if (blockIdx.x < uniform) {
    update_vectors<true>(args, rates, begin_at);
  } else {
    update_vectors<false>(args, rates, begin_at);
  }
}

}  // namespace

void gradient_squares(const void* rounded_gradients, int64_t count, double* sums, cudaStream_t stream) {
  require(count % 8 == 0, "squares are summed eight gradients at a time");
  launch("gradient squares", squares_kernel, static_cast<unsigned>(kSquareBlocks), kBlock, 0, stream,
         static_cast<const uint4*>(rounded_gradients), count / 8, sums);
}

void optimizer_step(const Optimizer& args, cudaStream_t stream) {
  if (args.count == 0) return;
  require(args.low == nullptr || args.mirror != nullptr, "split weights need their mirror");
  const int64_t vectors = (args.count + 3) / 4;
  const int64_t norm_blocks = std::clamp<int64_t>((vectors - args.squared / 4 + kBlock - 1) / kBlock, 1, kNormBlocks);
  launch("gradient norm", norm_kernel, static_cast<unsigned>(norm_blocks), kBlock, 0, stream, args);
  constexpr int64_t kOfBlock = 4 * kBlock * kVectors;
  // One block more than the vectors need where only the last few parameters are left for it.
  const int64_t blocks = (args.count + kOfBlock - 1) / kOfBlock;
  const int64_t uniform = args.low != nullptr ? std::min(args.rounded, args.decayed) / kOfBlock : 0;
  launch("AdamW", update_kernel, static_cast<unsigned>(blocks), kBlock, 0, stream, args, rates_of(args),
         static_cast<unsigned>(uniform));
}

}  // namespace lengthwise::gpu
