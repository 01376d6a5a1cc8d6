#include "infer/greedy.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "data/vocabulary.h"
#include "infer/key_value_cache.h"
#include "infer/rounds.h"

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

  // Which prompt a row of the batch belongs to. Rows that have ended stand still until half of them have: to leave them
  // out, the whole cache is copied.
  std::vector<size_t> prompt_of(prompts.size());
  std::iota(prompt_of.begin(), prompt_of.end(), size_t{0});
  std::vector<int64_t> alive(prompts.size(), 1);
  while (true) {
    at::Tensor next = logits.argmax(-1).to(at::kCPU);
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
      cache.keep(kept.to(device));
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
    logits = cache.step(next.to(device), position.to(device), seen, at::tensor(alive, at::kLong).to(device));
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
  const int64_t size = std::clamp<int64_t>((int64_t{1} << 30) / each, 1, options.batch_size);
  const auto generate = [&](std::span<const std::vector<int32_t>> texts, int64_t limit,
                            std::span<std::vector<int32_t>> written) {
    generate_batch(decoder, texts, limit, written);
  };
  generate_in_rounds(prompts, size, options.max_total_tokens, answers, generate, progress);
  return answers;
}

}  // namespace lengthwise
