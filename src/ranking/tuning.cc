#include "ranking/tuning.h"

#include <algorithm>
#include <unordered_map>

namespace lengthwise {
namespace {

bool better(const TriedValue& a, const TriedValue& b) {
  if (a.known != b.known) return a.known;
  if (a.accuracy != b.accuracy) return a.accuracy > b.accuracy;
  return a.loss < b.loss;
}

std::string key_of(const Score& score) {
  return score.category + '\n' + score.split + '\n' + score.encoding;
}

void choose(TunedChoice& choice) {
  for (TriedValue& tried : choice.tried) {
    tried.accuracy /= static_cast<double>(std::max<size_t>(1, tried.seeds));
    tried.loss /= static_cast<double>(std::max<size_t>(1, tried.seeds));
  }
  for (size_t i = 1; i < choice.tried.size(); ++i) {
    if (better(choice.tried[i], choice.tried[choice.chosen])) choice.chosen = i;
  }
}

}  // namespace

std::vector<TunedChoice> choose_tuned(std::vector<const Score*>& scores) {
  std::vector<TunedChoice> choices;
  std::unordered_map<std::string, size_t> places;
  std::unordered_map<std::string, size_t> value_places;
  for (const Score* score : scores) {
    if (score->tuned.empty()) continue;
    const size_t place = places.try_emplace(key_of(*score), choices.size()).first->second;
    if (place == choices.size()) choices.push_back({score->split, score->encoding, {}, 0});
    std::vector<TriedValue>& values = choices[place].tried;
    const auto value = value_places.try_emplace(key_of(*score) + '\n' + score->tuned, values.size()).first->second;
    if (value == values.size()) values.push_back({.value = score->tuned});
    TriedValue& tried = values[value];
    if (!score->trained.known()) continue;
    tried.known = true;
    ++tried.seeds;
    tried.accuracy += score->trained.share();
    tried.loss += score->trained_loss;
  }
  for (TunedChoice& choice : choices) choose(choice);
  std::erase_if(scores, [&](const Score* score) {
    if (score->tuned.empty()) return false;
    const TunedChoice& choice = choices[places.at(key_of(*score))];
    return choice.tried[choice.chosen].value != score->tuned;
  });
  return choices;
}

}  // namespace lengthwise
