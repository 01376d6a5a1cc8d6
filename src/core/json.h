#pragma once
/// JSON as it is read and written everywhere: whatever a file holds, reading it gives the value or a UserError of one
/// line, never an exception of the library and never a stack that is exhausted.
///
///     const Json json = parse_json(read_file(path), shown(path));
///     const JsonObject state(json, shown(path));
///     const int64_t step = state.whole("step", 0, steps);          // FILE: 'step' must be a whole number from 0 to 9
///     const double loss = state.find_number("loss").value_or(0);   // absent or null is nothing; a text is an error
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lengthwise {

using Json = nlohmann::ordered_json;

/// How deep arrays and objects may be nested. Copying, comparing and printing a value take stack with its depth.
inline constexpr size_t kDeepestJson = 100;

/// One JSON value. UserError `WHERE: not valid JSON at byte N` (with the line where there are several) for anything
/// else, for text that is not UTF-8, for numbers beyond a double, for keys that occur twice in an object and for
/// nesting deeper than kDeepestJson. Linear in the size of the text.
Json parse_json(std::string_view text, std::string_view where);

/// On one line, or indented. Bytes that are no UTF-8 (names of files) become U+FFFD instead of an exception.
std::string json_text(const Json& value, int indent = -1);

/// An object and where it comes from. Every getter gives a value of the type it names or fails with a line that says
/// what is wrong; those called `find_...` give nothing where the key is absent or null. The value must outlive it.
class JsonObject {
 public:
  JsonObject(const Json& value, std::string where);
  JsonObject(Json&& value, std::string where) = delete;

  bool has(std::string_view key) const { return find(key) != nullptr; }  ///< and it is not null
  /// Any value; nullptr where it is absent or null.
  const Json* find(std::string_view key) const;

  int64_t whole(std::string_view key, int64_t low = std::numeric_limits<int64_t>::min(),
                int64_t high = std::numeric_limits<int64_t>::max()) const;
  /// Finite, and whole numbers count as well.
  double number(std::string_view key, double low = std::numeric_limits<double>::lowest(),
                double high = std::numeric_limits<double>::max()) const;
  const std::string& text(std::string_view key) const;
  bool flag(std::string_view key) const;
  const Json& array(std::string_view key) const;
  JsonObject object(std::string_view key) const;

  std::optional<int64_t> find_whole(std::string_view key, int64_t low = std::numeric_limits<int64_t>::min(),
                                    int64_t high = std::numeric_limits<int64_t>::max()) const;
  std::optional<double> find_number(std::string_view key, double low = std::numeric_limits<double>::lowest(),
                                    double high = std::numeric_limits<double>::max()) const;
  std::optional<std::string> find_text(std::string_view key) const;

  const Json& value() const { return *value_; }
  const Json::object_t& members() const { return value_->get_ref<const Json::object_t&>(); }  ///< pairs, in order
  const std::string& where() const { return where_; }

  /// UserError `WHERE: 'KEY' must be WHAT`.
  [[noreturn]] void fail_at(std::string_view key, std::string_view what) const;

 private:
  const Json& need(std::string_view key, std::string_view what) const;

  const Json* value_;
  std::string where_;
};

/// Adds the member "checksum" over everything else in the object (core/checksum.h), last.
void seal(Json& object);

/// UserError `WHERE is damaged: ...` when there is a "checksum" and it is not that of the rest. An object without one,
/// as earlier versions and people write it, passes. The layout (white space, indentation) does not matter.
void check_seal(const Json& object, std::string_view where);

}  // namespace lengthwise
