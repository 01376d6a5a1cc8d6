#include "train/trainable.h"

#include "core/error.h"
#include "data/remarks.h"

namespace lengthwise {

int64_t longest_sequence(const TokenSet& set) {
  int64_t longest = 0;
  for (int64_t i = 0; i < set.size(); ++i)
    longest = std::max(longest, static_cast<int64_t>(set.sequence(i).size()) - 1);
  return longest;
}

int64_t most_room(const TokenSet& set) {
  int64_t most = 1;
  for (int64_t i = 0; i < set.size(); ++i) {
    const int64_t prompt = std::max<int64_t>(1, std::ssize(set.prompt(i)));
    most = std::max(most, (std::ssize(set.sequence(i)) - 1 + prompt - 1) / prompt);
  }
  return most;
}

void check_trainable(const Model& model, const DataConfig& config, const DataSet& data, int64_t random_offset) {
  check_trainable(config, data);
  const int64_t training = longest_sequence(data.train);
  const int64_t longest = std::max({training, longest_sequence(data.validation), longest_sequence(data.test)});
  model.placing().check(model.config().encoding);
  for (const TokenSet* set : {&data.train, &data.validation, &data.test})
    model.placing().check(model.config().encoding, *set);
  const std::optional<int64_t> limit = model.position_limit();
  if (data.text) {
    const int64_t most = resolve(config).contexts.back();
    if (limit && std::max(most, longest) > *limit) {
      fail(
          "{} has {} positions, but a context of {} is asked for; raise --max-positions or shorten "
          "--context and --contexts",
          model.called(), *limit, std::max(most, longest));
    }
  }
  if (limit && longest > *limit) {
    fail(
        "{} has {} positions, but a sequence has {} tokens; raise its positions or shorten "
        "--test-lengths",
        model.called(), *limit, longest);
  }
  if (random_offset == 0) return;
  if (!model.uses_absolute_positions())
    fail("--random-offset means nothing to {}, which does not use absolute positions", model.called());
  if (random_offset < training) {
    fail("--random-offset {} is less than the {} tokens of the longest training sequence", random_offset, training);
  }
  if (limit && random_offset > *limit)
    fail("--random-offset {} is beyond the {} positions of the encoding", random_offset, *limit);
}

}  // namespace lengthwise
