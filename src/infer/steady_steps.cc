#include "infer/steady_steps.h"

#include <algorithm>

namespace lengthwise {
namespace {

/// Steps between looks at whether all sequences have ended.
constexpr int64_t kBetweenLooks = 16;

}  // namespace

void Replays::run(int64_t kind, const std::function<void()>& body) {
  const auto [found, fresh] = replays_.try_emplace(kind);
  if (fresh) return body();
  if (!found->second) found->second = capture_(body);
  found->second();
}

void make_steps(std::span<const std::vector<int32_t>> prompts, int64_t limit, const std::function<bool()>& any_alive,
                const std::function<void(int64_t)>& step) {
  int64_t shortest = limit;
  for (const auto& prompt : prompts) shortest = std::min(shortest, std::ssize(prompt));
  for (int64_t done = 1; done < limit - shortest; ++done) {
    if (done % kBetweenLooks == 0 && !any_alive()) break;
    step(done);
  }
}

}  // namespace lengthwise
