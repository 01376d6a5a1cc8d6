// Times every CUDA kernel at the shapes of the model `base`, by events around replayed graphs.
//
// Prints one JSON object a line: microseconds a launch and, as `floor`, the bytes it must move over the highest rate
// of this device's memory. "from memory" rotates among buffers that together exceed the L2 cache; "from cache" uses one
// set. The last lines time all kernels of a training step in its order, without the matrix products
// (gpu_step_bench.cu).
#include <array>
#include <cstring>
#include <random>

#include "bench/gpu_bench.cuh"
#include "gpu_kernels/cached_attention.h"
#include "gpu_kernels/embedding.h"
#include "gpu_kernels/relu.h"
#include "gpu_kernels/rows.h"
#include "gpu_kernels/sort_rows.h"
#include "gpu_kernels/split_values.h"
#include "gpu_kernels/sums.h"

namespace lengthwise::gpu {

void bench_step(Shape shape, bool table, int64_t vocabulary);
void bench_launches();

namespace {

void bench_attention(Shape shape, bool table, int64_t pairs, double probability) {
  const std::string name = std::to_string(shape.sequences) + " x " + std::to_string(shape.length) +
                           (table ? ", table" : "") + (pairs > 0 ? ", rotation" : "") +
                           (probability > 0 ? ", dropout" : "");
  const auto tokens = static_cast<double>(shape.tokens());
  bench("attention forward " + name, tokens * kWidth * 2 * 4, [&] {
    return [run = AttentionRun(shape, table, pairs, probability)] {
      attention_forward(run.args, run.out, run.log_sum, stream);
    };
  });
  bench("attention backward " + name, tokens * kWidth * 2 * 7, [&] {
    AttentionRun run(shape, table, pairs, probability);
    attention_forward(run.args, run.out, run.log_sum, stream);
    return [run] { attention_backward(run.args, run.gradients, stream); };
  });
}

void bench_passes(int64_t tokens) {
  const auto elements = static_cast<double>(tokens * kWidth);
  const std::string at = " " + std::to_string(tokens) + " x 768";
  bench("residual + dropout + norm forward" + at, elements * (4 + 2 + 4 + 2),
        [&] { return [args = norm_forward(tokens, 1)] { add_norm_forward(args, stream); }; });
  bench("residual + dropout + norm backward" + at, elements * (2 + 2 + 8 + 2), [&] {
    const AddNormForward forward = norm_forward(tokens, 1);
    add_norm_forward(forward, stream);
    const AddNormBackward args =
        norm_backward(forward, random_floats(tokens * kWidth), allocate<float>(add_norm_parts(tokens) * kWidth));
    return [args] { add_norm_backward(args, stream); };
  });
  bench("rectifier + dropout forward " + std::to_string(tokens) + " x 3072", elements * 4 * 4, [&] {
    return [x = random_halves(tokens * kHidden), tokens] {
      relu_dropout_forward(kBf16, x, tokens, kHidden, dropout(3, 1), stream);
    };
  });
  bench("rectifier + dropout backward " + std::to_string(tokens) + " x 3072", elements * 4 * 6, [&] {
    return [y = random_halves(tokens * kHidden), dy = random_halves(tokens * kHidden), tokens] {
      relu_dropout_backward(kBf16, y, dy, tokens, kHidden, dropout(3, 1), stream);
    };
  });
  std::mt19937 random(1);
  std::vector<int32_t> ids, picks, spread(static_cast<size_t>(tokens), -1);
  for (int64_t t = 0; t < tokens; ++t) ids.push_back(static_cast<int32_t>(random() % 30));
  for (int64_t t = 1; t < tokens; t += 2) {
    spread[static_cast<size_t>(t)] = static_cast<int32_t>(picks.size());
    picks.push_back(static_cast<int32_t>(t));
  }
  const int32_t* tokens_in = upload(ids);
  int32_t* order = allocate<int32_t>(tokens);
  uint64_t* sorting = allocate<uint64_t>(sort_rows_scratch(tokens));
  bench("embedding forward" + at, elements * 4, [&] {
    EmbedForward args;
    args.capacity = tokens;
    args.width = kWidth;
    args.table = random_floats(32 * kWidth);
    args.tokens = tokens_in;
    args.dropout = dropout(0, 0);
    args.x = allocate<float>(tokens * kWidth);
    return [args] { embed_forward(args, stream); };
  });
  bench("sort of rows " + std::to_string(tokens), static_cast<double>(tokens) * 8,
        [&] { return [=] { sort_rows(tokens_in, nullptr, tokens, order, sorting, stream); }; });
  bench("embedding backward" + at, elements * 4, [&] {
    EmbedBackward args;
    args.capacity = tokens;
    args.width = kWidth;
    args.keys = tokens_in;
    args.order = order;
    args.dx = random_floats(tokens * kWidth);
    args.dropout = dropout(0, 0);
    args.d_table = random_floats(32 * kWidth);
    args.borders = allocate<float>((tokens + kEmbedChunk) / kEmbedChunk * 2 * kWidth);
    return [args] { embed_backward(args, stream); };
  });
  const int32_t* picks_in = upload(picks);
  const int32_t* spread_in = upload(spread);
  const auto picked = static_cast<int64_t>(picks.size());
  bench("rows of targets" + at, static_cast<double>(picked * kWidth) * 12, [&] {
    const std::array jobs{RowJob{random_halves(tokens * kWidth), random_halves(picked * kWidth), kWidth * 2},
                          RowJob{random_floats(tokens * kWidth), random_floats(picked * kWidth), kWidth * 4}};
    return [=] { gather_rows(picks_in, picked, jobs, stream); };
  });
  bench("rows spread back" + at, static_cast<double>(picked * kWidth) * 18, [&] {
    const std::array jobs{RowJob{random_halves(picked * kWidth), random_halves(tokens * kWidth), kWidth * 2},
                          RowJob{random_floats(picked * kWidth), random_floats(tokens * kWidth), kWidth * 4}};
    return [=] { gather_rows(spread_in, tokens, jobs, stream); };
  });
  constexpr int64_t kNorms = 25;
  bench("gains of 25 norms", static_cast<double>(kNorms * add_norm_parts(tokens) * kWidth) * 4, [&] {
    std::vector<float*> outs;
    for (int64_t n = 0; n < kNorms; ++n) outs.push_back(allocate<float>(kWidth));
    SumParts args;
    args.groups = kNorms;
    args.parts = add_norm_parts(tokens);
    args.columns = kWidth;
    args.part_stride = kWidth;
    args.group_stride = args.parts * kWidth;
    args.values = random_floats(kNorms * args.group_stride);
    args.outs = upload(outs);
    return [args] { sum_parts(args, stream); };
  });
}

void bench_loss_and_optimizer() {
  const float* weight = upload(std::vector<float>{1e-3f});
  for (const int64_t vocabulary : {30, 32100}) {
    const auto elements = static_cast<double>(960 * ((vocabulary + 7) / 8 * 8));
    const std::string at = " 960 x " + std::to_string(vocabulary);
    bench("cross-entropy float" + at, elements * 8, [&] {
      return [args = loss_args(960, vocabulary, Storage::float32, Storage::float32, weight)] {
        cross_entropy(args, stream);
      };
    });
    bench("cross-entropy float, gradient bf16" + at, elements * 6, [&] {
      return [args = loss_args(960, vocabulary, Storage::float32, kBf16, weight)] { cross_entropy(args, stream); };
    });
  }
  StepState* state = upload(std::vector<StepState>(1));
  constexpr int64_t kParameters = 85000000;
  bench("optimizer, 85 M parameters", 34.0 * kParameters,
        [&] { return [args = optimizer_args(kParameters, state)] { optimizer_step(args, stream); }; });
  bench("optimizer, 85 M parameters, bf16 gradients and split weights", 26.0 * kParameters, [&] {
    Optimizer args = optimizer_args(kParameters, state);
    args.rounded = args.squared = kParameters;
    args.rounded_gradients = random_halves(kParameters, 1e-3f);
    args.low = allocate<uint16_t>(kParameters);
    split_values(args.values, kParameters, args.mirror, args.low, stream);
    return [args] { optimizer_step(args, stream); };
  });
}

/// New tokens of many sequences over what is kept of those before them.
void bench_generation(int64_t rows, int64_t position) {
  const double bytes = static_cast<double>(rows * kWidth * (position + 1)) * 4;
  const std::string name = std::to_string(rows) + " sequences of " + std::to_string(position + 1);
  bench("attention of new tokens, " + name, bytes, [&] {
    CachedAttention args;
    const int64_t kept = rows * kWidth * (position + 1);
    args.cache = {kBf16, kHeads, kDim, position + 1, random_halves(kept), random_halves(kept)};
    args.rows = rows;
    args.qkv = random_halves(rows * 3 * kWidth);
    args.positions = upload(std::vector<int32_t>(static_cast<size_t>(rows), static_cast<int32_t>(position)));
    args.scale = 0.125f;
    args.out = random_halves(rows * kWidth);
    return [args] { cached_attention(args, stream); };
  });
}

/// The rate every floor is measured by: two bits a clock and line of the bus.
void find_memory_rate() {
  int kilohertz = 0, lines = 0;
  cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0);
  cudaDeviceGetAttribute(&lines, cudaDevAttrGlobalMemoryBusWidth, 0);
  if (kilohertz > 0 && lines > 0) memory_rate = 2e3 * kilohertz * lines / 8;
}

void bench_copy() {
  constexpr int64_t kBytes = int64_t{1} << 30;
  char* from = allocate<char>(kBytes, 1);
  char* to = allocate<char>(kBytes);
  const double microseconds = time_graph(8, [&] {
    for (int i = 0; i < 8; ++i) cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice, stream);
  });
  cudaFree(from);
  cudaFree(to);
  print("copy of 1 GiB", microseconds, 2.0 * kBytes);
}

void run(bool quick) {
  check_cuda(cudaStreamCreate(&stream), "stream");
  seed = upload(std::vector<uint64_t>{12345});
  find_memory_rate();
  bench_copy();
  bench_launches();
  bench_passes(kRows);
  bench_attention({64, 30}, false, 0, 0.1);
  bench_attention({64, 30}, true, 0, 0.1);
  bench_attention({64, 30}, false, 8, 0.1);
  bench_attention({64, 60}, false, 0, 0.1);
  bench_loss_and_optimizer();
  bench_generation(1024, 79);
  bench_generation(256, 1023);
  bench_step({64, 30}, false, 30);
  bench_step({64, 30}, true, 32100);
  if (quick) return;
  for (const Shape shape : {Shape{64, 128}, Shape{64, 512}, Shape{16, 2048}}) {
    bench_attention(shape, false, 0, 0.1);
    bench_attention(shape, true, 0, 0.1);
    bench_attention(shape, false, 8, 0.1);
    bench_attention(shape, false, 0, 0);
  }
  bench_passes(32768);
}

}  // namespace
}  // namespace lengthwise::gpu

int main(int count, char** words) {
  lengthwise::gpu::run(count > 1 && std::strcmp(words[1], "--quick") == 0);
}
