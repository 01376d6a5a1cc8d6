#include "study/study_file.h"

#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "core/toml.h"

namespace lengthwise {
namespace {

constexpr const char* kCase = "case";

/// A key and its value, sorted into the order of the file, which toml++ does not keep.
struct Item {
  std::string name;
  const toml::node* node;
  toml::source_position place;
};

std::vector<Item> items_of(const toml::table& table) {
  std::vector<Item> items;
  for (const auto& [key, node] : table) items.push_back({std::string(key.str()), &node, key.source().begin});
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.place < b.place; });
  return items;
}

/// The text of one value; false for a list, a table or a date.
bool scalar_text(const toml::node& node, std::string& text) {
  if (const auto string = node.value_exact<std::string>()) {
    text = *string;
  } else if (const auto whole = node.value_exact<int64_t>()) {
    text = to_text(*whole);
  } else if (const auto number = node.value_exact<double>()) {
    text = to_text(*number);
  } else if (const auto flag = node.value_exact<bool>()) {
    text = to_text(*flag);
  } else {
    return false;
  }
  return true;
}

/// Safe as part of a file name: letters, digits and `.+-_`, not hidden.
std::string safe_label(const std::string& text) {
  std::string label = text;
  for (char& c : label) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '+' || c == '-' || c == '_';
    if (!plain) c = '_';
  }
  if (label.empty() || label.front() == '.') label.insert(0, "_");
  return label;
}

class Parser {
 public:
  explicit Parser(StudyFile& file) : file_(file) {}

  void read(const toml::table& table) {
    for (const Item& item : items_of(table)) read_item(item);
    check_axes_apart();
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

  Axis read_axis(const Item& item, const toml::array& list) {
    Axis axis{item.name, line_of(item), {}};
    if (item.name != kCase) check_option(item.name, axis.line);
    if (list.empty()) complain(axis.line, "'{}' is an empty list: there would be no run", item.name);
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
    std::vector<std::vector<Setting>> lists;
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
        lists.emplace_back();
        for (const toml::node& node : *list)
          lists.back().push_back(read_setting(item.name, node, static_cast<int64_t>(node.source().begin.line)));
      }
    }
    if (fixed.empty() && lists.empty()) complain(table_line, "an entry of '{}' sets no option", axis.name);
    if (label.empty()) label = default_label(axis, fixed, lists.empty());
    std::vector<AxisEntry> entries{{label, fixed}};
    size_t count = 1;
    for (const std::vector<Setting>& list : lists) {
      count *= list.size();
      if (count > kMostRuns) complain(table_line, "these lists are more than {} runs", kMostRuns);
    }
    for (const std::vector<Setting>& list : lists) {
      std::vector<AxisEntry> longer;
      for (const AxisEntry& entry : entries) {
        for (const Setting& setting : list) {
          AxisEntry next = entry;
          next.label += (next.label.empty() ? "" : "-") + label_of(setting);
          next.settings.push_back(setting);
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

  void check_option(const std::string& name, int64_t line) const {
    std::vector<std::string> known{"name", "title", "label", kCase};
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
  return parse_study(read_file(path), path.string());
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
