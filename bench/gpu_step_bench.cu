// All kernels of one training step of `base` in their order, as one graph, without the matrix products between them.
#include <numeric>

#include "bench/gpu_bench.cuh"
#include "gpu_kernels/assemble.h"
#include "gpu_kernels/embedding.h"
#include "gpu_kernels/relu.h"
#include "gpu_kernels/rows.h"
#include "gpu_kernels/sort_rows.h"
#include "gpu_kernels/sums.h"

namespace lengthwise::gpu {
namespace {

/// Half of every sequence is its target.
AssembleBatch batch_args(Shape shape, StepState* state) {
  constexpr int64_t kExamples = 1024;
  std::vector<int32_t> tokens, prompts, order;
  std::vector<int64_t> offsets{0};
  for (int64_t e = 0; e < kExamples; ++e) {
    for (int64_t t = 0; t <= shape.length; ++t) tokens.push_back(static_cast<int32_t>((e * 7 + t * 11) % 30));
    offsets.push_back(static_cast<int64_t>(tokens.size()));
    prompts.push_back(static_cast<int32_t>(shape.length / 2 + 1));
  }
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int32_t e = 0; e < kExamples; ++e) order.push_back(e * 37 % kExamples);
  }
  AssembleBatch args;
  args.set = {upload(tokens), upload(offsets), upload(prompts), kExamples};
  args.order = {upload(order), kExamples, 2};
  const int64_t capacity = shape.tokens();
  args.batch = {shape.sequences,
                capacity,
                capacity / 2,
                shape.length,
                allocate<int32_t>(capacity),
                allocate<int32_t>(capacity),
                allocate<int32_t>(capacity),
                allocate<int32_t>(shape.sequences + 1),
                allocate<int32_t>(capacity),
                allocate<int32_t>(capacity)};
  args.state = state;
  return args;
}

}  // namespace

void bench_step(Shape shape, bool table, int64_t vocabulary) {
  const int64_t tokens = shape.tokens();
  StepState* state = upload(std::vector<StepState>(1));
  const AssembleBatch batch = batch_args(shape, state);
  const int64_t targets = batch.batch.target_capacity;
  EmbedForward embed;
  embed.capacity = tokens;
  embed.width = kWidth;
  embed.rows = &state->tokens;
  embed.table = random_floats(vocabulary * kWidth);
  embed.tokens = batch.batch.tokens;
  embed.dropout = dropout(0, 0);
  embed.x = allocate<float>(tokens * kWidth);
  EmbedBackward embed_back;
  embed_back.capacity = tokens;
  embed_back.width = kWidth;
  embed_back.rows = &state->tokens;
  embed_back.keys = batch.batch.tokens;
  int32_t* order = allocate<int32_t>(tokens);
  uint64_t* sorting = allocate<uint64_t>(sort_rows_scratch(tokens));
  embed_back.order = order;
  embed_back.dropout = embed.dropout;
  embed_back.d_table = allocate<float>(vocabulary * kWidth);
  embed_back.borders = allocate<float>((tokens + kEmbedChunk) / kEmbedChunk * 2 * kWidth);
  float* d_sum = random_floats(tokens * kWidth);
  embed_back.dx = d_sum;
  const int64_t parts = add_norm_parts(tokens);
  float* gain_parts = allocate<float>(2 * kLayers * parts * kWidth);
  std::vector<AddNormForward> norms;
  std::vector<AddNormBackward> norm_backs;
  std::vector<AttentionRun> attentions;
  std::vector<void*> hidden;
  float* table_parts = nullptr;
  void* d_hidden = random_halves(tokens * kHidden);
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    for (const int64_t half : {0, 1}) {
      norms.push_back(norm_forward(tokens, layer));
      norms.back().rows = &state->tokens;
      norm_backs.push_back(norm_backward(norms.back(), d_sum, gain_parts + (2 * layer + half) * parts * kWidth));
      norm_backs.back().rows = &state->tokens;
    }
    AttentionRun& run = attentions.emplace_back(shape, table, 0, 0.1);
    run.args.offsets = batch.batch.offsets;
    if (table && layer == 0) {
      table_parts = allocate<float>(kLayers * attention_table_parts(run.args) * kHeads * shape.length);
    }
    if (table) {
      run.gradients.table_parts = table_parts + layer * attention_table_parts(run.args) * kHeads * shape.length;
    }
    hidden.push_back(random_halves(tokens * kHidden));
  }
  CrossEntropy loss = loss_args(targets, vocabulary, Storage::float32, kBf16, &state->weight);
  loss.rows = &state->targets;
  loss.targets = batch.batch.targets;
  std::vector<float*> gains;
  for (int64_t n = 0; n < 2 * kLayers; ++n) gains.push_back(allocate<float>(kWidth));
  SumParts gain_sums;
  gain_sums.values = gain_parts;
  gain_sums.groups = 2 * kLayers;
  gain_sums.parts = parts;
  gain_sums.columns = kWidth;
  gain_sums.part_stride = kWidth;
  gain_sums.group_stride = parts * kWidth;
  gain_sums.outs = upload(gains);
  SumParts table_sums;
  table_sums.values = table_parts;
  table_sums.groups = kHeads;
  table_sums.parts = kLayers * attention_table_parts(attentions[0].args);
  table_sums.columns = table_sums.group_stride = table_sums.out_stride = shape.length;
  table_sums.part_stride = kHeads * shape.length;
  table_sums.out = allocate<float>(kHeads * shape.length);
  Optimizer optimizer = optimizer_args(85000000 + vocabulary * kWidth, state);
  optimizer.losses = loss.losses;

  const RowJob picked[] = {{attentions[0].out, random_halves(targets * kWidth), kWidth * 2},
                           {norms[0].sum, random_floats(targets * kWidth), kWidth * 4}};
  const RowJob spread[] = {{random_halves(targets * kWidth), random_halves(tokens * kWidth), kWidth * 2},
                           {random_floats(targets * kWidth), random_floats(tokens * kWidth), kWidth * 4}};
  const auto forward = [&] {
    assemble_batch(batch, stream);
    sort_rows(batch.batch.tokens, &state->tokens, tokens, order, sorting, stream);
    embed_forward(embed, stream);
    for (size_t layer = 0; layer < kLayers; ++layer) {
      add_norm_forward(norms[2 * layer], stream);
      attention_forward(attentions[layer].args, attentions[layer].out, attentions[layer].log_sum, stream);
      add_norm_forward(norms[2 * layer + 1], stream);
      relu_dropout_forward(kBf16, hidden[layer], tokens, kHidden, dropout(3, static_cast<int64_t>(layer)), stream);
    }
    gather_rows(batch.batch.loss_rows, targets, picked, stream);
    cross_entropy(loss, stream);
  };
  const auto backward = [&] {
    gather_rows(batch.batch.target_at, tokens, spread, stream);
    for (size_t layer = kLayers; layer-- > 0;) {
      relu_dropout_backward(kBf16, hidden[layer], d_hidden, tokens, kHidden, dropout(3, 0), stream);
      add_norm_backward(norm_backs[2 * layer + 1], stream);
      attention_backward(attentions[layer].args, attentions[layer].gradients, stream);
      add_norm_backward(norm_backs[2 * layer], stream);
    }
    embed_backward(embed_back, stream);
    sum_parts(gain_sums, stream);
    if (table) sum_parts(table_sums, stream);
  };
  const std::string name = " of base, " + std::to_string(shape.sequences) + " x " + std::to_string(shape.length) +
                           (table ? ", table" : "") + ", vocabulary " + std::to_string(vocabulary);
  print("all small kernels, forward" + name, time_graph(1, forward), 0);
  print("all small kernels, backward" + name, time_graph(1, backward), 0);
  print("optimizer" + name, time_graph(1, [&] { optimizer_step(optimizer, stream); }),
        34.0 * static_cast<double>(optimizer.count));
  const StepState after = [&] {
    StepState copy;
    cudaMemcpy(&copy, state, sizeof(copy), cudaMemcpyDeviceToHost);
    return copy;
  }();
  if (after.flags != 0) std::printf("{\"name\": \"flags of the step\", \"figure\": %u}\n", after.flags);
}

}  // namespace lengthwise::gpu
