#pragma once
/// What the benchmarks of the CUDA kernels share: buffers, timing by replayed graphs, and the shapes of `base`.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "gpu_kernels/attention.h"
#include "gpu_kernels/cross_entropy.h"
#include "gpu_kernels/norm.h"
#include "gpu_kernels/optimizer.h"

namespace lengthwise::gpu {

inline cudaStream_t stream;
inline double memory_rate = 4.8e12;  ///< bytes a second between the chip and its memory, at most

template <class T>
T* allocate(int64_t count, int byte = 0) {
  void* pointer = nullptr;
  check_cuda(cudaMalloc(&pointer, static_cast<size_t>(std::max<int64_t>(count, 16)) * sizeof(T)), "allocate");
  check_cuda(cudaMemset(pointer, byte, static_cast<size_t>(count) * sizeof(T)), "fill");
  return static_cast<T*>(pointer);
}

template <class T>
T* upload(const std::vector<T>& values) {
  T* pointer = allocate<T>(static_cast<int64_t>(values.size()));
  check_cuda(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return pointer;
}

static __global__ void random_kernel(float* floats, __nv_bfloat16* halves, int64_t count, float scale) {
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count; i += gridDim.x * int64_t{256}) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    x ^= x >> 16;
    const float value = (static_cast<float>(x) * 0x1p-32f - 0.5f) * 3.46f * scale;  // variance 1
    if (floats != nullptr) floats[i] = value;
    if (halves != nullptr) halves[i] = __float2bfloat16(value);
  }
}

inline float* random_floats(int64_t count, float scale = 1) {
  float* pointer = allocate<float>(count);
  random_kernel<<<1024, 256>>>(pointer, nullptr, count, scale);
  return pointer;
}
inline void* random_halves(int64_t count, float scale = 1) {
  auto* pointer = allocate<__nv_bfloat16>(count);
  random_kernel<<<1024, 256>>>(nullptr, pointer, count, scale);
  return pointer;
}

/// What `body` launches on a stream, to be replayed.
inline cudaGraphExec_t capture(cudaStream_t on, const std::function<void()>& body) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check_cuda(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal), "capture");
  body();
  check_cuda(cudaStreamEndCapture(on, &graph), "capture");
  check_cuda(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
  check_cuda(cudaGraphDestroy(graph), "destroy");
  return exec;
}

/// The same on the common stream, after the body has run once.
inline cudaGraphExec_t run_and_capture(const std::function<void()>& body) {
  body();
  check_cuda(cudaStreamSynchronize(stream), "run");
  return capture(stream, body);
}

/// Microseconds of one of the `launches` that `body` makes: the median over replays of its graph.
inline double time_graph(int launches, const std::function<void()>& body) {
  cudaGraphExec_t exec = run_and_capture(body);
  cudaEvent_t start, end;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int i = 0; i < 12; ++i) {
    cudaEventRecord(start, stream);
    check_cuda(cudaGraphLaunch(exec, stream), "replay");
    cudaEventRecord(end, stream);
    check_cuda(cudaEventSynchronize(end), "replay");
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, start, end);
    if (i >= 2) times.push_back(milliseconds);
  }
  cudaGraphExecDestroy(exec);
  std::sort(times.begin(), times.end());
  return 1000.0 * times[times.size() / 2] / launches;
}

inline void print(const std::string& name, double microseconds, double bytes) {
  std::printf("{\"name\": \"%s\", \"figure\": %.2f, \"unit\": \"us\", \"better\": \"lower\", \"floor\": %.2f}\n",
              name.c_str(), microseconds, 1e6 * bytes / memory_rate);
  std::fflush(stdout);
}

/// `make(set)` prepares buffers and gives the launch; `bytes` is what one launch moves.
inline void bench(const std::string& name, double bytes, const std::function<std::function<void()>()>& make) {
  const int sets = std::clamp(static_cast<int>(200e6 / std::max(bytes, 1e6)), 1, 24);
  std::vector<std::function<void()>> launches;
  for (int i = 0; i < sets; ++i) launches.push_back(make());
  constexpr int kLaunches = 24;
  const double cold = time_graph(kLaunches, [&] {
    for (int i = 0; i < kLaunches; ++i) launches[static_cast<size_t>(i % sets)]();
  });
  const double warm = time_graph(kLaunches, [&] {
    for (int i = 0; i < kLaunches; ++i) launches[0]();
  });
  print(name + ", from memory", cold, bytes);
  print(name + ", from cache", warm, bytes);
}

inline constexpr Storage kBf16 = Storage::bfloat16;
inline constexpr int64_t kLayers = 12, kWidth = 768, kHeads = 12, kDim = 64, kHidden = 3072;
inline constexpr int64_t kRows = 1920;  ///< of a step: 64 sequences of 30 tokens
inline uint64_t* seed;

inline DropoutArgs dropout(int64_t place, int64_t layer) {
  return {0.1, seed, place, layer};
}

struct Shape {
  int64_t sequences, length;
  int64_t tokens() const { return sequences * length; }
};

struct AttentionRun {
  Attention args;
  AttentionGradients gradients;
  void* out;
  float* log_sum;

  AttentionRun(Shape shape, bool table, int64_t pairs, double probability) {
    const int64_t tokens = shape.tokens();
    std::vector<int32_t> offsets;
    for (int64_t s = 0; s <= shape.sequences; ++s) offsets.push_back(static_cast<int32_t>(s * shape.length));
    args.token_capacity = tokens;
    args.sequences = shape.sequences;
    args.heads = kHeads;
    args.dim = kDim;
    args.longest = shape.length;
    args.qkv = random_halves(tokens * 3 * kWidth);
    args.offsets = upload(offsets);
    args.scale = 0.125f;
    if (table) {
      args.table = random_floats(kHeads * shape.length);
      args.distances = shape.length;
    }
    if (pairs > 0) {
      args.cos = random_floats(tokens * pairs);
      args.sin = random_floats(tokens * pairs);
      args.pairs = pairs;
    }
    if (probability > 0) args.dropout = DropoutArgs(probability, seed, 1, 0);
    auto* plan = allocate<int32_t>(std::max<int64_t>(4, attention_plan_size(args)));
    attention_plan(args, plan, stream);
    args.plan = plan;
    out = random_halves(tokens * kWidth);
    log_sum = allocate<float>(tokens * kHeads);
    gradients.out = out;
    gradients.log_sum = log_sum;
    gradients.d_out = random_halves(tokens * kWidth);
    gradients.d_qkv = allocate<__nv_bfloat16>(tokens * 3 * kWidth);
    gradients.delta = allocate<float>(tokens * kHeads);
    if (table) gradients.table_parts = allocate<float>(attention_table_parts(args) * kHeads * shape.length);
  }
};

inline AddNormForward norm_forward(int64_t tokens, int64_t layer) {
  AddNormForward args;
  args.capacity = tokens;
  args.width = kWidth;
  args.x = random_floats(tokens * kWidth);
  args.branch = random_halves(tokens * kWidth);
  args.dropout = dropout(2, layer);
  args.gain = random_floats(kWidth);
  args.sum = allocate<float>(tokens * kWidth);
  args.inverse = allocate<float>(tokens);
  args.normed = allocate<__nv_bfloat16>(tokens * kWidth);
  return args;
}

inline AddNormBackward norm_backward(const AddNormForward& forward, float* d_sum, float* parts) {
  AddNormBackward args;
  args.capacity = forward.capacity;
  args.width = kWidth;
  args.d_normed = random_halves(forward.capacity * kWidth);
  args.normed = forward.normed;
  args.inverse = forward.inverse;
  args.gain = forward.gain;
  args.dropout = forward.dropout;
  args.d_sum = d_sum;
  args.d_branch = allocate<__nv_bfloat16>(forward.capacity * kWidth);
  args.gain_parts = parts;
  return args;
}

inline CrossEntropy loss_args(int64_t rows, int64_t vocabulary, Storage in, Storage out, const float* weight) {
  CrossEntropy args;
  args.capacity = rows;
  args.vocabulary = vocabulary;
  args.stride = (vocabulary + 7) / 8 * 8;
  args.logits_storage = in;
  args.d_storage = out;
  args.logits = in == kBf16 ? random_halves(rows * args.stride) : random_floats(rows * args.stride);
  args.targets = allocate<int32_t>(rows);
  args.weight = weight;
  args.losses = allocate<float>(rows);
  args.best = allocate<int32_t>(rows);
  args.d_logits = in == out ? const_cast<void*>(args.logits) : random_halves(rows * args.stride);
  return args;
}

inline Optimizer optimizer_args(int64_t count, StepState* state) {
  Optimizer args;
  args.count = count;
  args.decayed = count - 20000;
  args.values = random_floats(count);
  args.gradients = random_floats(count, 1e-3f);
  args.first = allocate<float>(count);
  args.second = allocate<float>(count);
  args.mirror = allocate<__nv_bfloat16>(count);
  args.peak = 1e-4;
  args.steps = 1000000;
  args.sums = allocate<double>(kNormBlocks);
  args.state = state;
  return args;
}

}  // namespace lengthwise::gpu
