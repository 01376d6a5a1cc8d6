#include "infer/greedy.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "batch/prompts.h"
#include "core/error.h"
#include "data/vocabulary.h"
#include "infer/rounds.h"

namespace lengthwise {
namespace {

/// The positions, by every rule of the encoding, of the last tokens of these texts: [text] each.
std::vector<at::Tensor> place_last(const Placing& placing, std::span<const std::vector<int32_t>> texts,
                                   std::span<const int64_t> prompts) {
  std::vector<at::Tensor> streams;
  const std::vector<TextPositions> placed = place_texts(placing, texts, prompts);
  for (size_t rule = 0; rule < placed.size(); ++rule) {
    std::vector<double> last;
    for (const std::vector<double>& its : placed[rule]) last.push_back(its.back());
    streams.push_back(stream_tensor(placing.rules[rule], last));
  }
  return streams;
}

/// `prompt_tokens`: of each text in `prompts`, how many of its tokens are the prompt; the rest was written before.
void generate_batch(Continuation& source, const Placing& placing, std::span<const std::vector<int32_t>> prompts,
                    std::span<const int64_t> prompt_tokens, int64_t limit, std::span<std::vector<int32_t>> answers) {
  at::Tensor next = source.read(prompts, place_texts(placing, prompts, prompt_tokens));

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
    std::vector<std::vector<int32_t>> texts;  // only where positions follow from them
    std::vector<int64_t> their_prompts;
    for (size_t row = 0; row < alive.size(); ++row) {
      const size_t prompt = prompt_of[row];
      const auto total = static_cast<int64_t>(prompts[prompt].size() + answers[prompt].size());
      position.data_ptr<int64_t>()[row] = total - 1;
      seen = std::max(seen, total);
      if (placing.rules.empty()) continue;
      std::vector<int32_t>& text = texts.emplace_back(prompts[prompt]);
      text.insert(text.end(), answers[prompt].begin(), answers[prompt].end());
      their_prompts.push_back(prompt_tokens[prompt]);
    }
    next = source.step(next, position, place_last(placing, texts, their_prompts), seen, alive);
  }
}

}  // namespace

std::vector<std::vector<int32_t>> generate_greedy(Model& model, const std::vector<std::vector<int32_t>>& prompts,
                                                  const GreedyOptions& options,
                                                  const std::function<void(int64_t)>& progress) {
  std::vector<std::vector<int32_t>> answers(prompts.size());
  const int64_t each = model.bytes_kept(options.max_total_tokens);
  const int64_t size = std::clamp<int64_t>((int64_t{1} << 30) / each, 1, options.batch_size);
  LENGTHWISE_CHECK(options.prompt_tokens.empty() || options.prompt_tokens.size() == prompts.size(),
                   "{} lengths of prompts for {} texts", options.prompt_tokens.size(), prompts.size());
  const GenerateNumbered generate = [&](std::span<const size_t> numbers, std::span<const std::vector<int32_t>> texts,
                                        int64_t limit, std::span<std::vector<int32_t>> written) {
    std::vector<int64_t> of_prompts;
    for (const size_t i : numbers) {
      of_prompts.push_back(options.prompt_tokens.empty() ? std::ssize(prompts[i]) : options.prompt_tokens[i]);
    }
    int64_t capacity = limit;
    for (const auto& text : texts) capacity = std::max(capacity, static_cast<int64_t>(text.size()));
    const std::unique_ptr<Continuation> source =
        model.continuation(arithmetic_of(options.precision), static_cast<int64_t>(texts.size()), capacity);
    generate_batch(*source, model.placing(), texts, of_prompts, limit, written);
  };
  generate_in_rounds(prompts, size, options.max_total_tokens, answers, generate, progress);
  return answers;
}

}  // namespace lengthwise
