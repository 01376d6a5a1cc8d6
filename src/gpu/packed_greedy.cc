#include "gpu/packed_greedy.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <bit>

#include "batch/prompts.h"
#include "core/error.h"
#include "data/vocabulary.h"
#include "gpu/batch_upload.h"
#include "gpu/buckets.h"
#include "gpu/gpu_scorer.h"
#include "gpu_kernels/next_token.h"

namespace lengthwise {
namespace {

/// Tokens of prompts that are read at once, or those of one prompt.
constexpr int64_t kPromptTokens = 32768;

EncodingValues values_up_to(const Decoder& decoder, int64_t capacity) {
  at::NoGradGuard no_grad;
  const int64_t positions = std::min(capacity, decoder.encoding().position_limit().value_or(capacity));
  // Prompts are read in shapes whose longest sequence is a power of two (buckets.h).
  const auto distances = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(32, capacity))));
  return encoding_values(decoder, positions, distances);
}

}  // namespace

PackedGreedy::PackedGreedy(Decoder& decoder, const std::string& precision, int64_t batch, int64_t capacity,
                           Feeding feeding)
    : PackedGreedy(decoder, make_mirror(decoder, precision), precision == "tf32", batch, capacity, std::move(feeding)) {
}

PackedGreedy::PackedGreedy(Decoder& decoder, const at::Tensor& mirror, bool tf32, int64_t batch, int64_t capacity,
                           Feeding feeding)
    : decoder_(decoder),
      storage_(mirror.defined() ? gpu::Storage::bfloat16 : gpu::Storage::float32),
      batch_(batch),
      capacity_(capacity),
      replays_(std::move(feeding.capture)),
      wait_(std::move(feeding.wait)),
      stream_(c10::cuda::getCurrentCUDAStream().stream()),
      values_(values_up_to(decoder, capacity)),
      prompts_(decoder, mirror, tf32, /*training=*/false, stream_),
      steps_(decoder, mirror, tf32, /*training=*/false, stream_),
      step_shape_{batch, batch, batch, 1},
      layers_(static_cast<size_t>(decoder.config().layers)) {
  const int64_t bytes = bytes_each(decoder, storage_, capacity) * batch / decoder.config().layers / 2;
  for (LayerRows& layer : layers_) {
    memory_.add_bytes(&layer.keys, bytes);
    memory_.add_bytes(&layer.values, bytes);
  }
  memory_.add(best_, batch);
  memory_.add(alive_, batch);
  memory_.add(made_, batch * capacity);
  memory_.allocate();
  steps_.reserve(step_shape_);
  prompts_.attend_with([this](int64_t layer, const gpu::Attention& args, void* out, float* log_sum) {
    gpu::attention_forward(args, out, log_sum, stream_);
    gpu::store_keys(rows_of(layer), args.qkv, args.offsets, args.sequences, first_row_, stream_);
  });
  steps_.attend_with([this](int64_t layer, const gpu::Attention& args, void* out, float*) {
    gpu::rotate_queries_and_keys(args, stream_);
    gpu::CachedAttention cached;
    cached.cache = rows_of(layer);
    cached.rows = batch_;
    cached.qkv = args.qkv;
    cached.positions = steps_.batch(step_shape_).positions;
    cached.scale = args.scale;
    cached.table = args.table;
    cached.distances = args.distances;
    cached.query_scale = args.query_scale;
    cached.dense = args.dense;
    cached.dense_places = args.dense_places;
    cached.window = args.window;
    cached.out = out;
    gpu::cached_attention(cached, stream_);
  });
}

int64_t PackedGreedy::bytes_each(const Decoder& decoder, gpu::Storage storage, int64_t capacity) {
  const ModelConfig& config = decoder.config();
  return capacity * config.heads * config.head_dim * 2 * config.layers * gpu::bytes_of(storage);
}

gpu::KeyValueRows PackedGreedy::rows_of(int64_t layer) const {
  const LayerRows& rows = layers_[static_cast<size_t>(layer)];
  return {storage_, decoder_.config().heads, decoder_.config().head_dim, capacity_, rows.keys, rows.values};
}

/// Keys and values of prompts, to the rows from `first` on, and the best tokens behind them.
void PackedGreedy::read(std::span<const std::vector<int32_t>> prompts, int64_t first) {
  const Batch batch = prompt_batch(prompts);
  const PassShape shape = bucket_of(batch.sequence_count(), batch.token_count(), batch.target_count(), batch.longest);
  prompts_.reserve(shape);
  upload_batch(batch, shape, prompts_, stream_);
  first_row_ = first;
  prompts_.forward(shape, values_, 0);
  gpu::check_cuda(
      cudaMemcpyAsync(best_ + first, prompts_.best(), prompts.size() * 4, cudaMemcpyDeviceToDevice, stream_),
      "prompts");
}

/// The first token of every answer. Rows without a prompt do not live.
void PackedGreedy::begin(std::span<const std::vector<int32_t>> prompts) {
  for_groups(prompts, kPromptTokens, [&](size_t first, std::span<const std::vector<int32_t>> group) {
    read(group, static_cast<int64_t>(first));
  });
  at::Tensor positions = at::zeros({batch_}, at::kLong);
  std::vector<int32_t> alive(static_cast<size_t>(batch_), 0);
  for (size_t b = 0; b < prompts.size(); ++b) {
    positions.data_ptr<int64_t>()[b] = std::ssize(prompts[b]) - 1;
    alive[b] = 1;
  }
  gpu::check_cuda(cudaMemcpyAsync(alive_, alive.data(), alive.size() * 4, cudaMemcpyHostToDevice, stream_), "prompts");
  upload_batch(token_batch(at::zeros({batch_}, at::kLong), positions), step_shape_, steps_, stream_);
  choose(best_);
}

void PackedGreedy::choose(const int32_t* best) {
  const gpu::DeviceBatch batch = steps_.batch(step_shape_);
  gpu::NextToken next;
  next.rows = batch_;
  next.best = best;
  next.end = Vocabulary::kEos;
  next.capacity = capacity_;
  next.tokens = batch.tokens;
  next.positions = batch.positions;
  next.alive = alive_;
  next.made = made_;
  gpu::next_token(next, stream_);
}

void PackedGreedy::step() {
  steps_.forward(step_shape_, values_, 0);
  choose(steps_.best());
}

bool PackedGreedy::any_alive() const {
  std::vector<int32_t> alive(static_cast<size_t>(batch_));
  wait_();
  gpu::check_cuda(cudaMemcpyAsync(alive.data(), alive_, alive.size() * 4, cudaMemcpyDeviceToHost, stream_), "answers");
  gpu::check_cuda(cudaStreamSynchronize(stream_), "answers");
  return std::any_of(alive.begin(), alive.end(), [](int32_t lives) { return lives != 0; });
}

void PackedGreedy::generate(std::span<const std::vector<int32_t>> prompts, int64_t limit,
                            std::span<std::vector<int32_t>> answers) {
  LENGTHWISE_CHECK(static_cast<int64_t>(prompts.size()) <= batch_ && limit <= capacity_,
                   "{} prompts up to {} tokens for {} of {}", prompts.size(), limit, batch_, capacity_);
  at::NoGradGuard no_grad;
  begin(prompts);
  make_steps(
      prompts, limit, [this] { return any_alive(); }, [this](int64_t) { replays_.run(0, [this] { step(); }); });
  std::vector<int32_t> made(static_cast<size_t>(batch_ * capacity_));
  wait_();
  gpu::check_cuda(cudaMemcpyAsync(made.data(), made_, made.size() * 4, cudaMemcpyDeviceToHost, stream_), "answers");
  gpu::check_cuda(cudaStreamSynchronize(stream_), "answers");
  append_answers(prompts, limit, std::span<const int32_t>(made), capacity_, answers);
}

}  // namespace lengthwise
