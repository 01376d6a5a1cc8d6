#include "infer/greedy.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "data/vocabulary.h"
#include "infer/key_value_cache.h"

namespace lengthwise {
namespace {

void generate_batch(const Decoder& decoder, std::span<const std::vector<int32_t>> prompts, int64_t limit,
                    std::span<std::vector<int32_t>> answers) {
  const auto batch = static_cast<int64_t>(prompts.size());
  int64_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, static_cast<int64_t>(prompt.size()));
  KeyValueCache cache(decoder, batch, std::max(limit, longest));
  const at::Device device = decoder.parameters().values().device();
  at::Tensor logits = cache.read(prompts);

  // `alive` maps rows of the shrinking batch to prompts.
  std::vector<int64_t> alive(static_cast<size_t>(batch));
  std::iota(alive.begin(), alive.end(), int64_t{0});
  while (true) {
    const at::Tensor next = logits.argmax(-1).to(at::kCPU);
    std::vector<int64_t> rows;
    std::vector<int64_t> still;
    for (size_t row = 0; row < alive.size(); ++row) {
      const int64_t token = next.const_data_ptr<int64_t>()[row];
      const auto prompt = static_cast<size_t>(alive[row]);
      const auto total = static_cast<int64_t>(prompts[prompt].size() + answers[prompt].size());
      if (token == Vocabulary::kEos || total >= limit) continue;
      answers[prompt].push_back(static_cast<int32_t>(token));
      if (total + 1 >= limit) continue;
      rows.push_back(static_cast<int64_t>(row));
      still.push_back(alive[row]);
    }
    if (rows.empty()) return;
    const at::Tensor kept = at::tensor(rows, at::kLong);
    const at::Tensor current = next.index_select(0, kept);
    if (rows.size() < alive.size()) cache.keep(kept.to(device));
    alive = std::move(still);
    at::Tensor position = at::empty({static_cast<int64_t>(alive.size())}, at::kLong);
    int64_t seen = 0;
    for (size_t row = 0; row < alive.size(); ++row) {
      const auto prompt = static_cast<size_t>(alive[row]);
      const auto total = static_cast<int64_t>(prompts[prompt].size() + answers[prompt].size());
      position.data_ptr<int64_t>()[row] = total - 1;
      seen = std::max(seen, total);
    }
    logits = cache.step(current.to(device), position.to(device), seen);
  }
}

}  // namespace

std::vector<std::vector<int32_t>> generate_greedy(const Decoder& decoder,
                                                  const std::vector<std::vector<int32_t>>& prompts,
                                                  const GreedyOptions& options,
                                                  const std::function<void(int64_t)>& progress) {
  std::vector<std::vector<int32_t>> answers(prompts.size());
  const ModelConfig& config = decoder.config();
  const int64_t each = options.max_total_tokens * config.layers * config.heads * config.head_dim * 2 *
                       static_cast<int64_t>(decoder.parameters().values().element_size());
  const auto size = static_cast<size_t>(std::clamp<int64_t>((int64_t{1} << 30) / each, 1, options.batch_size));
  for (size_t begin = 0; begin < prompts.size(); begin += size) {
    const size_t count = std::min(size, prompts.size() - begin);
    generate_batch(decoder, std::span(prompts).subspan(begin, count), options.max_total_tokens,
                   std::span(answers).subspan(begin, count));
    if (progress) progress(static_cast<int64_t>(begin + count));
  }
  return answers;
}

}  // namespace lengthwise
