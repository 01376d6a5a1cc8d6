/// Expansion of a study, for any study: as many runs as combinations, different names, and configurations that differ
/// in what varies alone.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/text.h"
#include "study/plan.h"

namespace lengthwise {
namespace {

/// An axis that may be drawn: its option and values that go together with all others.
struct Choice {
  std::string option;
  std::vector<std::string> values;
};

const std::vector<Choice>& choices() {
  static const std::vector<Choice> all{{"task", {"'sort'", "'copy'", "'parity'", "'copy-rsc2x'"}},
                                       {"encoding", {"'nope'", "'t5'", "'rope'", "'alibi'"}},
                                       {"seed", {"1", "2", "30", "256788"}},
                                       {"steps", {"10", "100", "1000"}},
                                       {"lr", {"0.001", "0.5", "2.5e-5"}},
                                       {"dedup", {"true", "false"}},
                                       {"train-lengths", {"'3:4'", "'3:8'", "'5:5'"}}};
  return all;
}

/// Lists of some of the options in some order, each with some of its values.
rc::Gen<std::vector<Choice>> axes() {
  return rc::gen::exec([] {
    std::vector<Choice> picked;
    for (const Choice& choice : choices()) {
      const auto count = *rc::gen::inRange<size_t>(0, choice.values.size() + 1);
      if (count == 0) continue;
      picked.push_back({choice.option, {choice.values.begin(), choice.values.begin() + static_cast<int64_t>(count)}});
    }
    for (size_t left = picked.size(); left > 1; --left)
      std::swap(picked[left - 1], picked[*rc::gen::inRange<size_t>(0, left)]);
    if (picked.size() > 4) picked.resize(4);
    return picked;
  });
}

std::string file_of(const std::vector<Choice>& axes) {
  std::string text;
  bool has_task = false;
  for (const Choice& axis : axes) {
    has_task = has_task || axis.option == "task";
    text += axis.option + " = [" + join(axis.values, ", ") + "]\n";
  }
  return has_task ? text : "task = 'sort'\n" + text;
}

StudyPlan plan_of(const std::vector<Choice>& axes) {
  return plan_study(parse_study(file_of(axes), "file.toml"));
}

std::vector<std::string> names_of(const StudyPlan& plan) {
  std::vector<std::string> names;
  for (const StudyRun& run : plan.runs) names.push_back(run.name);
  return names;
}

TEST(Expansion, HasOneRunPerCombination) {
  EXPECT_TRUE(rc::check("as many runs as combinations, each with a name and a configuration of its own", [] {
    const std::vector<Choice> drawn = *axes();
    size_t product = 1;
    for (const Choice& axis : drawn) product *= axis.values.size();
    const StudyPlan plan = plan_of(drawn);
    RC_ASSERT(plan.runs.size() == product);
    std::set<std::string> names;
    std::set<std::string> configurations;
    for (const StudyRun& run : plan.runs) {
      names.insert(run.name);
      configurations.insert(run_identity(run.config));
      RC_ASSERT(run.name.find('/') == std::string::npos);
      RC_ASSERT(!run.name.empty() && run.name.front() != '.');
    }
    RC_ASSERT(names.size() == product);
    RC_ASSERT(configurations.size() == product);
  }));
}

TEST(Expansion, RunsDifferInWhatVariesAlone) {
  EXPECT_TRUE(rc::check("options that no list names are equal, but for the defaults a task or the steps decide", [] {
    const std::vector<Choice> drawn = *axes();
    const StudyPlan plan = plan_of(drawn);
    std::set<std::string> may_differ(plan.varying.begin(), plan.varying.end());
    if (may_differ.contains("task")) may_differ.insert({"train-lengths", "test-lengths", "vocab-rows", "data-version"});
    if (may_differ.contains("steps")) may_differ.insert({"validate-every", "checkpoint-every"});
    const auto options_of = [](const StudyRun& run) {
      nlohmann::ordered_json object = nlohmann::ordered_json::object();
      add_to_json(run.config, object);
      return object;
    };
    const auto first = options_of(plan.runs.front());
    for (const StudyRun& run : plan.runs) {
      const auto options = options_of(run);
      for (const auto& [name, value] : options.items()) {
        if (!may_differ.contains(name)) RC_ASSERT(value == first[name]);
      }
    }
  }));
}

TEST(Expansion, NamesStayWhenAListGrows) {
  EXPECT_TRUE(rc::check("a longer list adds runs and renames none", [] {
    std::vector<Choice> drawn = *axes();
    RC_PRE(!drawn.empty());
    const std::vector<std::string> before = names_of(plan_of(drawn));
    Choice& axis = drawn[*rc::gen::inRange<size_t>(0, drawn.size())];
    for (const Choice& choice : choices()) {
      if (choice.option == axis.option) axis.values = choice.values;
    }
    const std::vector<std::string> after = names_of(plan_of(drawn));
    const std::set<std::string> grown(after.begin(), after.end());
    for (const std::string& name : before) RC_ASSERT(grown.contains(name));
  }));
}

TEST(Expansion, WorkIsOrderedWithoutLosingARun) {
  EXPECT_TRUE(rc::check("the working order is a permutation in which equal data stand together", [] {
    const StudyPlan plan = plan_of(*axes());
    const std::vector<size_t> order = working_order(plan);
    RC_ASSERT(std::set<size_t>(order.begin(), order.end()).size() == plan.runs.size());
    RC_ASSERT(order.size() == plan.runs.size());
    std::set<std::string> seen;
    std::string last;
    for (const size_t i : order) {
      const std::string data = data_identity(plan.runs[i].config.data);
      if (data != last) RC_ASSERT(seen.insert(data).second);
      last = data;
    }
  }));
}

}  // namespace
}  // namespace lengthwise
