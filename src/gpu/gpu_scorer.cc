#include "gpu/gpu_scorer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

#include "gpu/batch_upload.h"
#include "gpu/buckets.h"
#include "gpu/gated.h"
#include "gpu/gpu.h"
#include "gpu/out_of_memory.h"

namespace lengthwise {
namespace {

/// Numbers that the tokens of a batch leave at once: a gibibyte of floats.
constexpr int64_t kScoredNumbers = int64_t{1} << 28;
/// Beyond this nothing becomes faster, and with sequences of one token each attention's limit of them would come near.
constexpr int64_t kMostScoredTokens = 32768;

}  // namespace

GpuScorer::GpuScorer(Decoder& decoder, at::Tensor mirror, bool tf32, int64_t head_rows)
    : decoder_(decoder),
      mirror_(std::move(mirror)),
      stream_(c10::cuda::getCurrentCUDAStream().stream()),
      passes_(decoder, mirror_, tf32, /*training=*/false, stream_, head_rows) {}

GpuScorer::GpuScorer(Decoder& decoder, const std::string& precision, int64_t head_rows)
    : GpuScorer(decoder, make_mirror(decoder, precision), precision == "tf32", head_rows) {}

int64_t GpuScorer::token_budget() const {
  // Logits exist in pieces, and all layers share one layer's buffers (DecoderPasses::lay_out).
  const ModelConfig& config = decoder_.config();
  const int64_t of_a_token = 6 * config.width + 5 * config.heads * config.head_dim + config.ff_width;
  return std::clamp<int64_t>(kScoredNumbers / of_a_token, 1024, kMostScoredTokens);
}

TargetScores GpuScorer::score(const Batch& batch) {
  if (!in_pass_) {
    const ScoringPass alone(*this);
    return score(batch);
  }
  try {
    return run(batch);
  } catch (const c10::OutOfMemoryError&) {
    fail_out_of_memory(fmt::format("evaluating {} sequences of {} tokens at once (the budget is {})",
                                   batch.sequence_count(), batch.token_count(), token_budget()));
  }
}

void GpuScorer::end_pass() {
  in_pass_ = rounded_ = false;
  values_.reset();
}

const EncodingValues& GpuScorer::values_of(int64_t positions, int64_t distances) {
  const std::pair shape(positions, distances);
  if (!values_ || values_are_of_ != shape) {
    values_.reset();  // there may be no room for two
    values_ = encoding_values(decoder_, positions, distances);
    values_are_of_ = shape;
  }
  return *values_;
}

TargetScores GpuScorer::run(const Batch& batch) {
  at::NoGradGuard no_grad;
  DeviceTurn turn(device_gate());
  const PassShape shape = bucket_of(batch.sequence_count(), batch.token_count(), batch.target_count(), batch.longest);
  passes_.reserve(shape);
  upload_batch(batch, shape, passes_, stream_);
  if (mirror_.defined() && !rounded_) mirror_.copy_(decoder_.parameters().values());
  rounded_ = true;
  const int64_t last = batch.positions.max().item<int64_t>() + 1;
  if (!batch.streams.empty()) passes_.load_streams(batch.streams, shape);
  const bool by_token = values_by_token(decoder_, batch.from_zero);
  if (by_token) {
    passes_.forward(shape, token_values(decoder_, passes_.token_context(shape)), 0);
  } else {
    passes_.forward(shape, values_of(last, shape.longest), 0);
  }
  const int64_t targets = batch.target_count();
  TargetScores scores{at::empty({targets}, at::TensorOptions().dtype(at::kFloat).pinned_memory(true)), {}};
  const at::Tensor best = at::empty({targets}, at::TensorOptions().dtype(at::kInt).pinned_memory(true));
  const auto bytes = static_cast<size_t>(targets) * 4;
  gpu::check_cuda(cudaMemcpyAsync(scores.losses.data_ptr(), passes_.losses(), bytes, cudaMemcpyDeviceToHost, stream_),
                  "scores");
  gpu::check_cuda(cudaMemcpyAsync(best.data_ptr(), passes_.best(), bytes, cudaMemcpyDeviceToHost, stream_), "scores");
  turn.unlock();
  gpu::check_cuda(cudaStreamSynchronize(stream_), "scoring");
  scores.best = best.to(at::kLong);
  return scores;
}

namespace {

/// A scorer on its own; that of a learner is made and ended with it.
class GatedScorer : public Scorer {
 public:
  GatedScorer(Decoder& decoder, const std::string& precision, int64_t head_rows)
      : scorer_(decoder, precision, head_rows) {}

  TargetScores score(const Batch& batch) override { return scorer_->score(batch); }
  int64_t token_budget() const override { return scorer_->token_budget(); }
  const Placing* placing() const override { return scorer_->placing(); }
  void begin_pass() override { scorer_->begin_pass(); }
  void end_pass() override { scorer_->end_pass(); }

 private:
  Gated<GpuScorer> scorer_;
};

}  // namespace

at::Tensor make_mirror(const Decoder& decoder, const std::string& precision) {
  if (precision != "bf16") return {};
  at::NoGradGuard no_grad;
  return decoder.parameters().values().to(at::kBFloat16);
}

std::unique_ptr<Scorer> make_gpu_scorer(Decoder& decoder, const std::string& precision, int64_t head_rows) {
  return std::make_unique<GatedScorer>(decoder, precision, head_rows);
}

}  // namespace lengthwise
