// Attention with what encodings put into its scores, forward and backward, over 32,768 tokens of `base`'s heads: what
// bench/peers/attention_peer.py measures with PyTorch. Milliseconds, medians over replayed graphs, no dropout.
#include "bench/gpu_bench.cuh"
#include "gpu_kernels/sums.h"

namespace lengthwise::gpu {
namespace {

constexpr int64_t kTokens = 32768;
constexpr int64_t kWindow = 128;

void bench_case(const std::string& name, int64_t length, bool table, bool learns, int64_t window, bool key_bias,
                bool pairs = false) {
  AttentionRun run({kTokens / length, length}, table, 0, 0);
  run.args.window = window;
  if (!learns) run.gradients.table_parts = nullptr;
  if (key_bias) {
    run.args.key_bias = random_floats(kTokens * kHeads);
    run.gradients.d_key_bias = allocate<float>(kTokens * kHeads);
  }
  if (pairs) {
    run.args.dense = random_floats(kHeads * length * length);
    run.args.dense_places = length;
    run.args.dense_shared = true;
    void* map = allocate<char>(attention_dense_map_size(run.args));
    attention_dense_map(run.args, map, stream);
    run.args.dense_map = map;
    const int64_t parts = attention_dense_parts(run.args);
    run.gradients.d_dense = random_floats(parts * kHeads * length * length);
    if (const int64_t room = attention_score_gradients_size(run.args); room > 0)
      run.gradients.score_gradients = allocate<char>(room);
  }
  SumParts sum;
  sum.values = run.gradients.table_parts;
  sum.groups = kHeads;
  sum.parts = attention_table_parts(run.args);
  sum.columns = sum.group_stride = sum.out_stride = length;
  sum.part_stride = kHeads * length;
  sum.out = allocate<float>(kHeads * length);
  sum.accumulate = false;
  constexpr int kLaunches = 4;
  const auto milliseconds = [&](bool backward) {
    return time_graph(kLaunches,
                      [&] {
                        for (int i = 0; i < kLaunches; ++i) {
                          attention_forward(run.args, run.out, run.log_sum, stream);
                          if (!backward) continue;
                          attention_backward(run.args, run.gradients, stream);
                          if (learns) sum_parts(sum, stream);
                        }
                      }) /
           1000;
  };
  std::printf("{\"name\": \"%s\", \"tokens\": %lld, \"ms\": %.4f, \"forward_ms\": %.4f}\n", name.c_str(),
              static_cast<long long>(length), milliseconds(true), milliseconds(false));
  std::fflush(stdout);
}

}  // namespace
}  // namespace lengthwise::gpu

int main() {
  using namespace lengthwise::gpu;
  check_cuda(cudaStreamCreate(&stream), "stream");
  for (const int64_t length : {512, 2048}) {
    bench_case("nope", length, false, false, 0, false);
    bench_case("alibi", length, true, false, 0, false);
    bench_case("t5", length, true, true, 0, false);
    bench_case("window", length, false, false, kWindow, false);
    bench_case("fox", length, false, false, 0, true);
    bench_case("fire", length, false, false, 0, false, true);
  }
}
