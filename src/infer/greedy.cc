#include "infer/greedy.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "data/vocabulary.h"
#include "infer/key_value_cache.h"
#include "infer/packed_cache.h"
#include "infer/rounds.h"

namespace lengthwise {
namespace {

/// Plain tensor operations, for every encoding and device.
class PlainSource {
 public:
  PlainSource(const Decoder& decoder, int64_t batch, int64_t capacity)
      : device_(decoder.parameters().values().device()), cache_(decoder, batch, capacity) {}

  at::Tensor read(std::span<const std::vector<int32_t>> prompts) { return best(cache_.read(prompts)); }
  at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions, int64_t seen,
                  const std::vector<int64_t>& alive) {
    return best(cache_.step(tokens.to(device_), positions.to(device_), seen, at::tensor(alive, at::kLong).to(device_)));
  }
  void keep(const at::Tensor& rows) { cache_.keep(rows.to(device_)); }

 private:
  static at::Tensor best(const at::Tensor& logits) { return logits.argmax(-1).to(at::kCPU); }

  at::Device device_;
  KeyValueCache cache_;
};

/// The fused engine of the CPU.
class PackedSource {
 public:
  PackedSource(Decoder& decoder, const std::string& precision, int64_t batch, int64_t capacity)
      : cache_(decoder, arithmetic_of(precision), batch, capacity) {}

  at::Tensor read(std::span<const std::vector<int32_t>> prompts) { return cache_.read(prompts); }
  at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions, int64_t, const std::vector<int64_t>&) {
    return cache_.step(tokens, positions);
  }
  void keep(const at::Tensor& rows) { cache_.keep(rows); }

 private:
  PackedCache cache_;
};

template <class Source>
void generate_batch(Source source, std::span<const std::vector<int32_t>> prompts, int64_t limit,
                    std::span<std::vector<int32_t>> answers) {
  at::Tensor next = source.read(prompts);

  // Which prompt a row of the batch belongs to. Rows that have ended stand still until half of them have: to leave them
  // out, the whole cache is copied.
  std::vector<size_t> prompt_of(prompts.size());
  std::iota(prompt_of.begin(), prompt_of.end(), size_t{0});
  std::vector<int64_t> alive(prompts.size(), 1);
  while (true) {
    std::vector<int64_t> living;
    for (size_t row = 0; row < alive.size(); ++row) {
      if (alive[row] == 0) continue;
      const int64_t token = next.const_data_ptr<int64_t>()[row];
      std::vector<int32_t>& answer = answers[prompt_of[row]];
      const auto total = static_cast<int64_t>(prompts[prompt_of[row]].size() + answer.size());
      const bool ends = token == Vocabulary::kEos || total >= limit;
      if (!ends) answer.push_back(static_cast<int32_t>(token));
      alive[row] = ends || total + 1 >= limit ? 0 : 1;
      if (alive[row] == 1) living.push_back(static_cast<int64_t>(row));
    }
    if (living.empty()) return;
    if (2 * living.size() <= alive.size()) {
      const at::Tensor kept = at::tensor(living, at::kLong);
      next = next.index_select(0, kept);
      source.keep(kept);
      for (size_t row = 0; row < living.size(); ++row) prompt_of[row] = prompt_of[static_cast<size_t>(living[row])];
      alive.assign(living.size(), 1);
    }
    at::Tensor position = at::empty({static_cast<int64_t>(alive.size())}, at::kLong);
    int64_t seen = 0;
    for (size_t row = 0; row < alive.size(); ++row) {
      const size_t prompt = prompt_of[row];
      const auto total = static_cast<int64_t>(prompts[prompt].size() + answers[prompt].size());
      position.data_ptr<int64_t>()[row] = total - 1;
      seen = std::max(seen, total);
    }
    next = source.step(next, position, seen, alive);
  }
}

bool packs(const Decoder& decoder) {
  return decoder.fused() && decoder.parameters().values().is_cpu();
}

}  // namespace

std::vector<std::vector<int32_t>> generate_greedy(Decoder& decoder, const std::vector<std::vector<int32_t>>& prompts,
                                                  const GreedyOptions& options,
                                                  const std::function<void(int64_t)>& progress) {
  std::vector<std::vector<int32_t>> answers(prompts.size());
  const ModelConfig& config = decoder.config();
  const int64_t each = options.max_total_tokens * config.layers * config.heads * config.head_dim * 2 *
                       static_cast<int64_t>(decoder.parameters().values().element_size());
  const int64_t size = std::clamp<int64_t>((int64_t{1} << 30) / each, 1, options.batch_size);
  const auto generate = [&](std::span<const std::vector<int32_t>> texts, int64_t limit,
                            std::span<std::vector<int32_t>> written) {
    const auto batch = static_cast<int64_t>(texts.size());
    int64_t capacity = limit;
    for (const auto& text : texts) capacity = std::max(capacity, static_cast<int64_t>(text.size()));
    if (packs(decoder)) {
      generate_batch(PackedSource(decoder, options.precision, batch, capacity), texts, limit, written);
    } else {
      generate_batch(PlainSource(decoder, batch, capacity), texts, limit, written);
    }
  };
  generate_in_rounds(prompts, size, options.max_total_tokens, answers, generate, progress);
  return answers;
}

}  // namespace lengthwise
