// What training, evaluation and generation ask of a decoder (model/model.h).
#include <ATen/ATen.h>

#include "model/cpu_engine.h"
#include "model/decoder.h"
#include "model/inspect.h"
#include "model/key_value_cache.h"
#include "model/packed_cache.h"
#include "model/plain_decoder.h"

namespace lengthwise {
namespace {

/// Plain tensor operations, for every encoding and device.
class PlainContinuation : public Continuation {
 public:
  PlainContinuation(const Decoder& decoder, int64_t texts, int64_t capacity)
      : device_(decoder.device()), cache_(decoder, texts, capacity) {}

  at::Tensor read(std::span<const std::vector<int32_t>> prompts, std::span<const TextPositions> placed) override {
    return best(cache_.read(prompts, placed));
  }
  at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions, const std::vector<at::Tensor>& streams,
                  int64_t seen, const std::vector<int64_t>& alive) override {
    std::vector<at::Tensor> there;
    for (const at::Tensor& stream : streams) there.push_back(stream.to(device_));
    const at::Tensor advance = at::tensor(alive, at::kLong).to(device_);
    return best(cache_.step(tokens.to(device_), positions.to(device_), seen, advance, there));
  }
  void keep(const at::Tensor& rows) override { cache_.keep(rows.to(device_)); }

 private:
  static at::Tensor best(const at::Tensor& logits) { return logits.argmax(-1).to(at::kCPU); }

  at::Device device_;
  KeyValueCache cache_;
};

/// The fused engine of the CPU.
class PackedContinuation : public Continuation {
 public:
  PackedContinuation(Decoder& decoder, Arithmetic arithmetic, int64_t texts, int64_t capacity)
      : cache_(decoder, arithmetic, texts, capacity) {}

  at::Tensor read(std::span<const std::vector<int32_t>> prompts, std::span<const TextPositions> placed) override {
    return cache_.read(prompts, placed);
  }
  at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions, const std::vector<at::Tensor>& streams,
                  int64_t, const std::vector<int64_t>&) override {
    return cache_.step(tokens, positions, streams);
  }
  void keep(const at::Tensor& rows) override { cache_.keep(rows); }

 private:
  PackedCache cache_;
};

}  // namespace

at::Tensor Decoder::rows(const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic) const {
  return plain_rows(*this, batch, dropout, nullptr, arithmetic);
}

at::Tensor Decoder::head(const at::Tensor& rows) const {
  return at::matmul(rows, embedding_->value.t());
}

std::vector<at::Tensor> Decoder::hidden(const Batch& batch) const {
  std::vector<std::vector<at::Tensor>> parts(static_cast<size_t>(config_.layers + 1));
  Inspection inspection;
  inspection.layer = [&](const LayerView& view) {
    if (view.layer == 0) parts.front().push_back(view.before);
    parts[static_cast<size_t>(view.layer + 1)].push_back(view.after);
  };
  inspect(*this, batch, inspection);
  std::vector<at::Tensor> hidden;
  for (const std::vector<at::Tensor>& part : parts) hidden.push_back(part.size() == 1 ? part.front() : at::cat(part));
  return hidden;
}

std::unique_ptr<Engine> Decoder::engine(Arithmetic arithmetic) {
  return std::make_unique<CpuEngine>(*this, arithmetic);
}

std::unique_ptr<Continuation> Decoder::continuation(Arithmetic arithmetic, int64_t texts, int64_t capacity) {
  if (generates_fused() && device().is_cpu())
    return std::make_unique<PackedContinuation>(*this, arithmetic, texts, capacity);
  return std::make_unique<PlainContinuation>(*this, texts, capacity);
}

int64_t Decoder::bytes_kept(int64_t capacity) const {
  return capacity * config_.layers * config_.heads * config_.head_dim * 2 *
         static_cast<int64_t>(parameters_.values().element_size());
}

}  // namespace lengthwise
