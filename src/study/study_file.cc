#include "study/study_file.h"

#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "core/toml.h"
#include "study/toml_items.h"

namespace lengthwise {
namespace {

constexpr const char* kCase = "case";

/// Safe as part of a file name: letters, digits and `.+-_`, not hidden. What stands in brackets is set off by hyphens:
/// `layers(rope,nope)` is layers-rope-nope.
std::string safe_label(const std::string& text) {
  const bool brackets = text.find('(') != std::string::npos;
  std::string label;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '+' || c == '-' || c == '_';
    if (plain) {
      label += c;
    } else if (!brackets) {
      label += '_';
    } else if (!label.empty() && label.back() != '-') {
      label += '-';
    }
  }
  if (brackets && label.ends_with('-')) label.pop_back();
  if (label.empty() || label.front() == '.') label.insert(0, "_");
  return label;
}

class Parser {
 public:
  explicit Parser(StudyFile& file) : file_(file) {}

  void read(const toml::table& table) {
    for (const Item& item : items_of(table)) read_item(item);
    check_count();
    check_axes_apart();
    check_tune();
  }

 private:
  template <class... Args>
  [[noreturn]] void complain(int64_t line, fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}:{}: {}", file_.path, line, fmt::format(format, std::forward<Args>(args)...));
  }

  static int64_t line_of(const Item& item) { return static_cast<int64_t>(item.place.line); }

  void read_item(const Item& item) {
    if (item.name == "name" || item.name == "title") {
      const auto text = item.node->value_exact<std::string>();
      if (!text || trim(*text).empty()) complain(line_of(item), "{} must be a text", item.name);
      (item.name == "name" ? file_.name : file_.title) = *text;
    } else if (item.name == "tune") {
      read_tune(item);
    } else if (const toml::table* group = item.node->as_table()) {
      for (const Item& inner : items_of(*group)) read_item(inner);
    } else if (const toml::array* list = item.node->as_array()) {
      file_.axes.push_back(read_axis(item, *list));
    } else {
      const Setting setting = read_setting(item.name, *item.node, line_of(item));
      for (const Setting& other : file_.settings) {
        if (other.option == setting.option)
          complain(setting.line, "'{}' is given twice; it stands in line {} already", setting.option, other.line);
      }
      file_.settings.push_back(setting);
    }
  }

  void read_tune(const Item& item) {
    tune_line_ = line_of(item);
    const toml::array* list = item.node->as_array();
    if (list == nullptr || list->empty()) complain(tune_line_, "tune must be a list of options: tune = [\"lr\"]");
    for (const toml::node& node : *list) {
      const auto option = node.value_exact<std::string>();
      if (!option) complain(tune_line_, "tune must be a list of options: tune = [\"lr\"]");
      file_.tune.push_back(*option);
    }
  }

  /// What is chosen by validation must have several values, and cannot be what is compared.
  void check_tune() const {
    const std::vector<std::string> varied = file_.varying();
    for (const std::string& option : file_.tune) {
      if (option == "encoding" || option == "architecture" || option == "task" || option == "data" || option == "seed")
        complain(tune_line_, "'{}' cannot be tuned: runs are compared by it", option);
      if (std::find(varied.begin(), varied.end(), option) == varied.end())
        complain(tune_line_, "'{}' cannot be tuned: no list varies it{}", excerpt(option),
                 did_you_mean(option, varied));
    }
  }

  Axis read_axis(const Item& item, const toml::array& list) {
    Axis axis{item.name, line_of(item), {}};
    if (item.name != kCase) check_option(item.name, axis.line);
    if (list.empty()) complain(axis.line, "'{}' is an empty list: there would be no run", item.name);
    check_no_bare_length(item.name, list);
    for (const toml::node& node : list) {
      if (axis.entries.size() > kMostRuns) complain(axis.line, "'{}' is more than {} runs", item.name, kMostRuns);
      if (const toml::table* table = node.as_table()) {
        for (AxisEntry& entry : read_table(axis, *table)) axis.entries.push_back(std::move(entry));
      } else if (item.name == kCase) {
        complain(static_cast<int64_t>(node.source().begin.line), "an entry of '{}' must be a table of options", kCase);
      } else {
        const Setting setting = read_setting(item.name, node, static_cast<int64_t>(node.source().begin.line));
        axis.entries.push_back({label_of(setting), {setting}});
      }
    }
    check_labels(axis);
    return axis;
  }

  /// One entry, or several where lists stand inside it.
  std::vector<AxisEntry> read_table(const Axis& axis, const toml::table& table) {
    const auto table_line = static_cast<int64_t>(table.source().begin.line);
    std::string label;
    std::vector<Setting> fixed;
    std::vector<std::vector<AxisEntry>> lists;  // of one setting each
    for (const Item& item : items_of(table)) {
      const toml::array* list = item.node->as_array();
      if (item.name == "label") {
        const auto text = item.node->value_exact<std::string>();
        if (!text || trim(*text).empty()) complain(line_of(item), "label must be a text");
        label = *text;
      } else if (list == nullptr) {
        fixed.push_back(read_setting(item.name, *item.node, line_of(item)));
      } else {
        check_option(item.name, line_of(item));
        if (list->empty()) complain(line_of(item), "'{}' is an empty list: there would be no run", item.name);
        check_no_bare_length(item.name, *list);
        lists.emplace_back();
        for (const toml::node& node : *list) {
          const Setting setting = read_setting(item.name, node, static_cast<int64_t>(node.source().begin.line));
          lists.back().push_back({label_of(setting), {setting}});
        }
      }
    }
    if (fixed.empty() && lists.empty()) complain(table_line, "an entry of '{}' sets no option", axis.name);
    if (label.empty()) label = default_label(axis, fixed, lists.empty());
    std::vector<AxisEntry> entries{{label, fixed}};
    size_t count = 1;
    for (const std::vector<AxisEntry>& list : lists) {
      count *= list.size();
      if (count > kMostRuns) complain(table_line, "these lists are more than {} runs", kMostRuns);
    }
    for (const std::vector<AxisEntry>& list : lists) {
      std::vector<AxisEntry> longer;
      for (const AxisEntry& entry : entries) {
        for (const AxisEntry& choice : list) {
          AxisEntry next = entry;
          next.label += (next.label.empty() ? "" : "-") + choice.label;
          next.settings.push_back(choice.settings.front());
          longer.push_back(std::move(next));
        }
      }
      entries = std::move(longer);
    }
    for (AxisEntry& entry : entries) entry.label = safe_label(entry.label);
    return entries;
  }

  std::string default_label(const Axis& axis, const std::vector<Setting>& fixed, bool alone) const {
    for (const Setting& setting : fixed) {
      if (setting.option == axis.name) return label_of(setting);
    }
    return alone ? label_of(fixed.front()) : "";
  }

  Setting read_setting(const std::string& name, const toml::node& node, int64_t line) const {
    check_option(name, line);
    Setting setting{name, "", line};
    if (!scalar_text(node, setting.text)) complain(line, "'{}' must be a string, a number or a truth value here", name);
    TrainConfig scratch;
    apply_setting(file_, setting, scratch);
    return setting;
  }

  /// `train-lengths = [1, 8]` would be runs of length 1 and runs of length 8, and nobody means that.
  void check_no_bare_length(const std::string& name, const toml::array& list) const {
    bool lengths = false;
    TrainConfig().visit([&](const char* option, const auto& value, const char*) {
      using T = typename config_detail::Unwrapped<std::decay_t<decltype(value)>>::type;
      lengths = lengths || (std::is_same_v<T, LengthRange> && name == option);
    });
    std::vector<int64_t> bare;
    for (const toml::node& node : list) {
      if (const auto number = node.value_exact<int64_t>()) bare.push_back(*number);
    }
    if (!lengths || bare.empty()) return;
    const auto [low, high] = std::minmax_element(bare.begin(), bare.end());
    complain(static_cast<int64_t>(list.source().begin.line),
             "an entry of the list '{}' is a range, not a number: write \"{}:{}\"", name, *low, *high);
  }

  void check_option(const std::string& name, int64_t line) const {
    std::vector<std::string> known{"name", "title", "tune", "label", kCase};
    bool found = false;
    TrainConfig().visit([&](const char* option, const auto&, const char*) {
      known.emplace_back(option);
      found = found || name == option;
    });
    if (!found) complain(line, "there is no option '{}'{}", excerpt(name), did_you_mean(name, known));
    // Two runs that differ in nothing but speed would be the same run twice.
    if (name == "threads") complain(line, "threads are divided over the jobs; use --threads and --jobs instead");
  }

  /// The same text for 0.001 and 1e-3.
  std::string label_of(const Setting& setting) const {
    TrainConfig scratch;
    apply_setting(file_, setting, scratch);
    std::string label;
    scratch.visit([&](const char* option, const auto& value, const char*) {
      if (setting.option != option) return;
      label = to_text(value);
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>) {
        label = value ? setting.option : "no-" + setting.option;
      }
      if (label.empty()) label = "no-" + setting.option;
    });
    return safe_label(label);
  }

  void check_labels(const Axis& axis) const {
    std::set<std::string> seen;
    for (const AxisEntry& entry : axis.entries) {
      if (seen.insert(entry.label).second) continue;
      complain(entry.settings.front().line,
               "'{}' has two entries called '{}'; give one of them a name of its own: {{{} = ..., label = \"...\"}}",
               axis.name, entry.label, entry.settings.front().option);
    }
  }

  void check_count() const {
    size_t count = 1;
    for (const Axis& axis : file_.axes) {
      count *= axis.entries.size();
      if (count > kMostRuns) fail("{}: these are more than {} runs", file_.path, kMostRuns);
    }
  }

  void check_axes_apart() const {
    for (size_t a = 0; a < file_.axes.size(); ++a) {
      for (const AxisEntry& entry : file_.axes[a].entries) {
        for (const Setting& setting : entry.settings) check_not_in_later_axis(a, setting);
      }
    }
  }

  void check_not_in_later_axis(size_t a, const Setting& setting) const {
    for (size_t b = a + 1; b < file_.axes.size(); ++b) {
      for (const AxisEntry& entry : file_.axes[b].entries) {
        for (const Setting& other : entry.settings) {
          if (other.option != setting.option) continue;
          complain(other.line, "'{}' is set by the list '{}' and also, in line {}, by the list '{}'", setting.option,
                   file_.axes[b].name, setting.line, file_.axes[a].name);
        }
      }
    }
  }

  StudyFile& file_;
  int64_t tune_line_ = 0;
};

}  // namespace

std::vector<std::string> StudyFile::varying() const {
  std::vector<std::string> options;
  for (const Axis& axis : axes) {
    for (const AxisEntry& entry : axis.entries) {
      for (const Setting& setting : entry.settings) {
        if (std::find(options.begin(), options.end(), setting.option) == options.end())
          options.push_back(setting.option);
      }
    }
  }
  return options;
}

StudyFile read_study_file(const std::filesystem::path& path) {
  if (is_folder(path)) {
    fail("{} is a folder; a study is a TOML file{}", shown(path),
         is_there(path / "study.toml") ? ": " + shown(path / "study.toml") : "");
  }
  return parse_study(read_file(path, kMostTomlBytes), shown(path));
}

StudyFile parse_study(std::string text, const std::string& path) {
  StudyFile file;
  file.path = path;
  file.text = std::move(text);
  file.name = std::filesystem::path(path).stem().string();
  Parser(file).read(parse_toml(file.text, path));
  return file;
}

void apply_setting(const StudyFile& file, const Setting& setting, TrainConfig& config) {
  config_detail::apply(config, fmt::format("{}:{}", file.path, setting.line), {{setting.option, setting.text}});
}

}  // namespace lengthwise
