#include "core/toml.h"

#include "core/error.h"
#include "core/files.h"

namespace lengthwise {
namespace {

/// Walks through the text outside of strings and comments. Up to the parser's first complaint it sees the same
/// structure as the parser, and beyond that the parser does not go.
class DepthScan {
 public:
  DepthScan(std::string_view text, const std::string& where) : left_(text), where_(where) {}

  void run() {
    while (!left_.empty()) {
      if (!skip_string() && !skip_comment()) step();
    }
  }

 private:
  void step() {
    const char c = left_.front();
    left_.remove_prefix(1);
    switch (c) {
      case '[':
      case '{':
        if (++depth_ > kDeepestToml) fail("{}:{}: nested more than {} deep", where_, line_, kDeepestToml);
        dots_ = 0;
        break;
      case ']':
      case '}':
        depth_ -= depth_ > 0 ? 1 : 0;
        dots_ = 0;
        break;
      case '.':
        if (++dots_ >= kMostTomlKeyParts) {
          fail("{}:{}: a key has more than {} parts", where_, line_, kMostTomlKeyParts);
        }
        break;
      case '\n':
        ++line_;
        dots_ = 0;
        break;
      case '=':
      case ',':
        dots_ = 0;
        break;
      default:
        break;
    }
  }

  bool skip_comment() {
    if (left_.front() != '#') return false;
    left_.remove_prefix(std::min(left_.find('\n'), left_.size()));
    return true;
  }

  bool skip_string() {
    const char quote = left_.front();
    if (quote != '"' && quote != '\'') return false;
    const std::string three(3, quote);
    const bool many_lines = left_.starts_with(three);
    left_.remove_prefix(many_lines ? 3 : 1);
    while (!left_.empty()) {
      const char c = left_.front();
      if (many_lines && left_.starts_with(three)) {
        // Up to two quotes may stand before the three that end it.
        while (left_.starts_with(three + quote)) left_.remove_prefix(1);
        left_.remove_prefix(3);
        return true;
      }
      if (!many_lines && c == '\n') return true;  // a mistake, which the parser names
      left_.remove_prefix(1);
      if (c == '\n') ++line_;
      if (!many_lines && c == quote) return true;
      if (c == '\\' && quote == '"' && !left_.empty()) {
        if (left_.front() == '\n') ++line_;
        left_.remove_prefix(1);
      }
    }
    return true;
  }

  std::string_view left_;
  const std::string& where_;
  size_t depth_ = 0;
  size_t dots_ = 0;
  int64_t line_ = 1;
};

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& where) {
  if (static_cast<int64_t>(text.size()) > kMostTomlBytes) {
    fail("{}: {} bytes are more than the {} that are read here", where, text.size(), kMostTomlBytes);
  }
  DepthScan(text, where).run();
  try {
    return toml::parse(text, where);
  } catch (const toml::parse_error& error) {
    fail("{}:{}: {}", where, error.source().begin.line, error.description());
  }
}

toml::table read_toml_file(const std::filesystem::path& path) {
  return parse_toml(read_file(path, kMostTomlBytes), shown(path));
}

}  // namespace lengthwise
