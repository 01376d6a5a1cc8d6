#include "data/jsonl.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "data/json_string.h"
#include "tasks/task.h"

namespace lengthwise {
namespace {

constexpr int64_t kLongest = 1'000'000;

/// collapse_spaces() into memory that is there already.
void append_collapsed(std::string& out, std::string_view text) {
  bool gap = false;
  for (const char c : text) {
    if (is_space(c)) {
      gap = !out.empty();
      continue;
    }
    if (gap) out += ' ';
    gap = false;
    out += c;
  }
}

/// Receives a line from the parser event by event, so that keys nobody asked for cost no memory. Each callback gives
/// true to go on; the reason a line is refused is a UserError.
class LineHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit LineHandler(Example& out) : out_(out) {}

  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("a truth value"); }
  bool number_integer(int64_t number) override { return whole_number(number); }
  bool number_unsigned(uint64_t number) override {
    return whole_number(static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX)));
  }
  bool number_float(double, const std::string&) override { return value("a fraction or too large a number"); }
  bool binary(nlohmann::json::binary_t&) override { return value("binary"); }

  bool string(std::string& text) override {
    if (depth_ != 1) return value("a string");
    switch (field_) {
      case Field::prompt:
        return take_text(text, out_.prompt);
      case Field::target:
        return take_text(text, out_.target);
      case Field::category:
        append_collapsed(out_.category, text);
        return true;
      default:
        return value("a string");
    }
  }

  bool start_object(size_t) override { return open("an object"); }
  bool start_array(size_t) override { return open("an array"); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    if (depth_ != 1) return true;
    field_ = Field::other;
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (name != kNames[i]) continue;
      if (seen_[i]) fail("'{}' is given twice", name);
      seen_[i] = true;
      field_ = static_cast<Field>(i);
    }
    constexpr size_t kMostKept = 16;
    if (field_ == Field::other && others_.size() < kMostKept) others_.push_back(name);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    fail("not valid JSON at column {}", position);
  }

  void finish() const {
    for (const Field needed : {Field::prompt, Field::target, Field::length}) {
      if (!seen_[static_cast<size_t>(needed)]) fail_missing(kNames[static_cast<size_t>(needed)]);
    }
  }

 private:
  enum class Field : size_t { prompt, target, length, category, other };
  static constexpr const char* kNames[] = {"prompt", "target", "length", "category"};

  [[noreturn]] void fail_missing(const std::string& name) const {
    for (const std::string& other : others_) {
      if (nearest_name(other, {name}).empty()) continue;
      fail("'{}' is missing, and there is a key '{}'; did you mean '{}'?", name, excerpt(other), name);
    }
    fail("'{}' is missing", name);
  }

  /// A value that is none of ours, or of the wrong type for the key it follows.
  bool value(const char* what) {
    if (depth_ == 0) fail("a line must be an object with prompt, target and length, not {}", what);
    if (depth_ == 1 && field_ != Field::other) {
      fail("'{}' must be {}, not {}", kNames[static_cast<size_t>(field_)],
           field_ == Field::length ? "a whole number" : "a string", what);
    }
    return true;
  }

  bool open(const char* what) {
    if (depth_ > 0 || std::strcmp(what, "an object") != 0) value(what);
    ++depth_;
    return true;
  }

  bool close() {
    --depth_;
    return true;
  }

  bool take_text(const std::string& text, std::string& out) {
    append_collapsed(out, text);
    if (out.empty()) fail("'{}' is empty", kNames[static_cast<size_t>(field_)]);
    return true;
  }

  bool whole_number(int64_t number) {
    if (depth_ != 1 || field_ != Field::length) return value("a number");
    if (number < 1 || number > kLongest) fail("'length' must lie between 1 and {}, not be {}", kLongest, number);
    out_.length = number;
    return true;
  }

  Example& out_;
  size_t depth_ = 0;
  Field field_ = Field::other;
  bool seen_[std::size(kNames)] = {};
  std::vector<std::string> others_;  ///< keys that are none of ours, for what is missing
};

}  // namespace

void parse_jsonl_line(std::string_view line, Example& out) {
  if (line.size() > kLongestJsonlLine) fail("the line is longer than {} bytes", kLongestJsonlLine);
  if (std::all_of(line.begin(), line.end(), is_space)) fail("the line is empty");
  if (line.starts_with("\xEF\xBB\xBF")) fail("the line begins with a byte-order mark; save the file without one");
  if (const size_t at = find_invalid_utf8(line); at != std::string_view::npos) {
    fail("not valid UTF-8 at column {}", at + 1);
  }
  out.prompt.clear();
  out.target.clear();
  out.category.clear();
  LineHandler handler(out);
  nlohmann::json::sax_parse(line.begin(), line.end(), &handler);
  handler.finish();
  if (out.category.empty()) out.category = std::to_string(out.length);
}

void read_jsonl(const std::filesystem::path& path, const std::function<void(const Example&)>& take) {
  InputFile file(path);
  Example example;
  int64_t number = 0;
  std::optional<int64_t> empty;  // the first of the empty lines just read
  const auto take_line = [&](std::string_view line) {
    ++number;
    if (line.size() <= kLongestJsonlLine && std::all_of(line.begin(), line.end(), is_space)) {
      if (!empty) empty = number;
      return;
    }
    if (empty) fail("{}:{}: the line is empty; only the end of a file may have empty lines", shown(path), *empty);
    try {
      parse_jsonl_line(line, example);
    } catch (const UserError& error) {
      fail("{}:{}: {}", shown(path), number, error.what());
    }
    take(example);
  };
  constexpr size_t kBlock = 1 << 18;
  std::string pending;  // the start of a line whose end has not been read
  std::string block(kBlock, '\0');
  while (const size_t got = file.read(block.data(), block.size())) {
    std::string_view bytes(block.data(), got);
    for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      if (pending.empty()) {
        take_line(bytes.substr(0, end));
      } else {
        pending += bytes.substr(0, end);
        take_line(pending);
        pending.clear();
      }
      bytes.remove_prefix(end + 1);
    }
    pending += bytes;
    if (pending.size() > kLongestJsonlLine) take_line(pending);  // refused there, before it fills the memory
  }
  if (!pending.empty()) take_line(pending);
}

void append_jsonl(std::string& out, const Example& example) {
  out += "{\"prompt\":";
  append_json_string(out, example.prompt);
  out += ",\"target\":";
  append_json_string(out, example.target);
  out += ",\"length\":";
  out += std::to_string(example.length);
  out += ",\"category\":";
  append_json_string(out, example.category);
  out += "}\n";
}

}  // namespace lengthwise
