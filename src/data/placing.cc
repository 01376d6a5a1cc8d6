#include "data/placing.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

constexpr int64_t kMostReals = 65536;

/// Uniform over the subsets of 0..max-1 with `count` elements, ascending (Floyd's algorithm).
std::vector<double> draw_subset(Rng rng, int64_t count, int64_t max) {
  std::vector<bool> taken(static_cast<size_t>(max));
  for (int64_t last = max - count; last < max; ++last) {
    const auto drawn = static_cast<size_t>(rng.between(0, last));
    taken[taken[drawn] ? static_cast<size_t>(last) : drawn] = true;
  }
  std::vector<double> positions;
  for (int64_t position = 0; position < max; ++position) {
    if (taken[static_cast<size_t>(position)]) positions.push_back(static_cast<double>(position));
  }
  return positions;
}

std::vector<double> draw_reals(Rng rng, int64_t count, int64_t max) {
  std::vector<double> positions(static_cast<size_t>(count));
  for (double& position : positions) position = rng.uniform() * static_cast<double>(max);
  std::ranges::sort(positions);
  return positions;
}

std::vector<double> random_positions(const PositionRule& rule, int64_t tokens, int64_t prompt, const Rng& rng) {
  const auto max = static_cast<double>(rule.max);
  const int64_t wanted = std::clamp<int64_t>(prompt * rule.room, 1, rule.whole() ? rule.max : kMostReals);
  std::vector<double> positions = rule.whole() ? draw_subset(rng, wanted, rule.max) : draw_reals(rng, wanted, rule.max);
  const size_t room = std::min(positions.size(), static_cast<size_t>(tokens));
  positions.resize(static_cast<size_t>(tokens));
  for (size_t i = room; i < positions.size(); ++i) {
    const double last = positions[i - 1];
    positions[i] = rule.whole() ? std::min(last + 1, max - 1) : (last + max) / 2;
  }
  return positions;
}

std::vector<double> digit_places(const Glossary& glossary, std::span<const int32_t> tokens) {
  std::vector<double> places(tokens.size());
  double run = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (glossary.text(tokens[i]).empty()) continue;  // a space within a number
    run = glossary.digit(tokens[i]) ? run + 1 : 0;
    places[i] = run;
  }
  return places;
}

std::vector<double> coupled_places(const Glossary& glossary, std::span<const int32_t> tokens, int64_t prompt) {
  std::vector<std::string_view> pieces;
  for (const int32_t token : tokens) pieces.push_back(glossary.text(token));
  std::vector<int32_t> ids(tokens.size());
  glossary.task()->couple(pieces, static_cast<size_t>(std::min<int64_t>(prompt, std::ssize(pieces))), ids);
  return {ids.begin(), ids.end()};
}

/// Positions from 1 on, moved together; 0 stays.
void move(std::vector<double>& places, double by, int64_t max) {
  for (double& place : places) {
    if (place > 0) place = std::min(place + by, static_cast<double>(max - 1));
  }
}

std::string tasks_that_couple() {
  std::vector<std::string> names;
  for (const auto& task : tasks()) {
    if (task->couples()) names.push_back(task->info().name);
  }
  return join(names, ", ");
}

}  // namespace

PositionDraw PositionDraw::training(const Rng& rng, int64_t step, int64_t example) {
  const Rng of_step = rng.stream("positions").at(static_cast<uint64_t>(step));
  return {of_step.stream(std::to_string(example)), of_step, true};
}

PositionDraw PositionDraw::fixed(std::span<const int32_t> prompt) {
  uint64_t hash = static_cast<uint64_t>(prompt.size());
  for (const int32_t token : prompt) hash = mix64(hash + 0x9e3779b97f4a7c15ull * (static_cast<uint64_t>(token) + 1));
  const Rng rng = Rng(0).stream("positions in evaluation").at(hash);
  return {rng, rng, false};
}

std::vector<double> Placing::place(size_t rule, std::span<const int32_t> tokens, int64_t prompt,
                                   const PositionDraw& draw) const {
  const PositionRule& how = rules[rule];
  if (how.ascending()) return random_positions(how, std::ssize(tokens), prompt, draw.of_sequence());
  const bool coupled = how.kind == PositionKind::coupled;
  if (!glossary || (coupled && glossary->task() == nullptr)) return std::vector<double>(tokens.size());
  std::vector<double> places = coupled ? coupled_places(*glossary, tokens, prompt) : digit_places(*glossary, tokens);
  double by = 0;
  if (draw.trains() && !coupled) by = static_cast<double>(draw.of_step().between(0, how.shift));
  if (draw.trains() && coupled) {
    const auto most = static_cast<int64_t>(*std::ranges::max_element(places));
    by = static_cast<double>(draw.of_sequence().between(0, std::max<int64_t>(0, how.max - 1 - most)));
  }
  move(places, by, how.max);
  return places;
}

void Placing::check(const std::string& encoding) const {
  for (const PositionRule& rule : rules) {
    if (rule.kind == PositionKind::digits && glossary && !glossary->has_digits()) {
      fail("the encoding {} goes by digits, but no token of these data is one", encoding);
    }
    if (rule.kind != PositionKind::coupled || !glossary) continue;
    if (glossary->task() == nullptr) {
      fail("the encoding {} needs a task that says which tokens belong together ({}), not data of your own", encoding,
           tasks_that_couple());
    }
    if (!glossary->task()->couples()) {
      fail("the encoding {}: the task {} does not say which tokens belong together; these do: {}", encoding,
           glossary->task()->info().name, tasks_that_couple());
    }
  }
}

void Placing::check(const std::string& encoding, const TokenSet& set) const {
  for (const PositionRule& how : rules) {
    if (how.ascending() || !glossary) continue;
    if (set.text) fail("the encoding {} places tokens by the problems of a task, and text has none", encoding);
    for (int64_t i = 0; i < set.size(); ++i) {
      const std::vector<double> places = how.kind == PositionKind::coupled
                                             ? coupled_places(*glossary, set.sequence(i), std::ssize(set.prompt(i)))
                                             : digit_places(*glossary, set.sequence(i));
      const auto most = static_cast<int64_t>(*std::ranges::max_element(places));
      if (most + how.shift < how.max) continue;
      fail("the encoding {} has {} positions, but an example needs {}{}; raise its max", encoding, how.max, most + 1,
           how.shift > 0 ? fmt::format(" and a shift of up to {}", how.shift) : "");
    }
  }
}

}  // namespace lengthwise
