#include "infer/rounds.h"

#include <algorithm>
#include <numeric>

namespace lengthwise {
namespace {

constexpr int64_t kFirstRound = 32;

}  // namespace

void generate_in_rounds(std::span<const std::vector<int32_t>> prompts, int64_t batch, int64_t limit,
                        std::span<std::vector<int32_t>> answers, const GenerateBatch& generate,
                        const std::function<void(int64_t)>& after_batch) {
  const GenerateNumbered numbered = [&](std::span<const size_t>, std::span<const std::vector<int32_t>> texts,
                                        int64_t stop,
                                        std::span<std::vector<int32_t>> written) { generate(texts, stop, written); };
  generate_in_rounds(prompts, batch, limit, answers, numbered, after_batch);
}

void generate_in_rounds(std::span<const std::vector<int32_t>> prompts, int64_t batch, int64_t limit,
                        std::span<std::vector<int32_t>> answers, const GenerateNumbered& generate,
                        const std::function<void(int64_t)>& after_batch) {
  std::vector<size_t> left(prompts.size());
  std::iota(left.begin(), left.end(), size_t{0});
  int64_t done = 0;
  for (int64_t round = kFirstRound; !left.empty(); round *= 4) {
    std::vector<size_t> unfinished;
    for (size_t begin = 0; begin < left.size(); begin += static_cast<size_t>(batch)) {
      const size_t count = std::min(static_cast<size_t>(batch), left.size() - begin);
      std::vector<std::vector<int32_t>> texts;
      int64_t longest = 0;
      for (const size_t i : std::span(left).subspan(begin, count)) {
        std::vector<int32_t>& text = texts.emplace_back(prompts[i]);
        text.insert(text.end(), answers[i].begin(), answers[i].end());
        longest = std::max(longest, static_cast<int64_t>(text.size()));
      }
      const int64_t stop = std::min(limit, longest + round);
      std::vector<std::vector<int32_t>> written(count);
      generate(std::span(left).subspan(begin, count), texts, stop, written);
      for (size_t row = 0; row < count; ++row) {
        const size_t i = left[begin + row];
        answers[i].insert(answers[i].end(), written[row].begin(), written[row].end());
        const bool cut_off = static_cast<int64_t>(prompts[i].size() + answers[i].size()) >= stop;
        if (cut_off && stop < limit) {
          unfinished.push_back(i);
        } else {
          ++done;
        }
      }
      if (after_batch) after_batch(done);
    }
    left = std::move(unfinished);
  }
}

}  // namespace lengthwise
