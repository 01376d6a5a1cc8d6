#include "core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/checksum.h"
#include "core/error.h"
#include "core/printable.h"
#include "core/text.h"

namespace lengthwise {
namespace {

/// Builds the value from the parser's events. The library's own builder has no limit of depth, and takes the last of
/// equal keys after comparing each key of an object with all others.
class Builder {
 public:
  using Whole = Json::number_integer_t;

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Whole value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(double value, const std::string&) {
    return std::isfinite(value) ? put(value) : refuse("a number in it is too large");
  }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t&) { return refuse("not valid JSON"); }
  bool start_object(size_t) { return open(Json::value_t::object); }
  bool start_array(size_t) { return open(Json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Level& level = levels_.back();
    // Few keys are compared with each other, many are hashed.
    constexpr size_t kFew = 16;
    const Json::object_t& members = level.value->get_ref<const Json::object_t&>();
    bool twice = false;
    if (members.size() < kFew) {
      twice = std::any_of(members.begin(), members.end(), [&](const auto& member) { return member.first == name; });
    } else {
      if (level.keys.empty()) {
        for (const auto& member : members) level.keys.insert(member.first);
      }
      twice = !level.keys.insert(name).second;
    }
    if (twice) return refuse(fmt::format("'{}' stands in one object twice", excerpt(name)));
    level.key = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) {
    byte_ = position;
    constexpr int kNumberTooLarge = 406;
    return refuse(error.id == kNumberTooLarge ? "a number in it is too large" : "not valid JSON");
  }

  const std::string& reason() const { return reason_; }
  size_t byte() const { return byte_; }
  Json take() { return std::move(root_); }

 private:
  struct Level {
    Json* value;
    std::string key;                            ///< of the member that comes next
    std::unordered_set<std::string> keys = {};  ///< of objects with many
  };

  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  /// Where the next value belongs. Members are appended without looking for their key, which is known to be new.
  Json* place(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.value->is_array()) {
      auto& items = level.value->get_ref<Json::array_t&>();
      items.push_back(std::move(value));
      return &items.back();
    }
    std::vector<Json::object_t::value_type>& members = level.value->get_ref<Json::object_t&>();
    members.emplace_back(std::move(level.key), std::move(value));
    return &members.back().second;
  }

  bool put(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json::value_t kind) {
    if (levels_.size() == kDeepestJson) return refuse(fmt::format("nested more than {} deep", kDeepestJson));
    levels_.push_back({place(Json(kind)), {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  Json root_;
  // What a level points to stays where it is: its parent grows only when the level is closed.
  std::vector<Level> levels_;
  std::string reason_;
  size_t byte_ = 0;
};

std::string range_text(const auto& low, const auto& high) {
  using Number = std::decay_t<decltype(low)>;
  const bool any_low = low == std::numeric_limits<Number>::lowest();
  const bool any_high = high == std::numeric_limits<Number>::max();
  if (any_low && any_high) return "";
  if (any_high) return fmt::format(" of at least {}", low);
  if (any_low) return fmt::format(" of at most {}", high);
  return fmt::format(" from {} to {}", low, high);
}

/// A number beyond 2^63 is kept as one without sign.
bool fits(const Json& value) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()});
}

uint32_t sum_without_seal(const Json& object) {
  Json rest = Json::object();
  auto& members = rest.get_ref<Json::object_t&>();
  for (const auto& member : object.get_ref<const Json::object_t&>()) {
    if (member.first != "checksum") members.push_back(member);
  }
  return crc32c(json_text(rest));
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  Builder builder;
  if (Json::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
  if (builder.reason() != "not valid JSON") fail("{}: {}", where, builder.reason());
  const size_t byte = std::min(builder.byte(), text.size() + 1);
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  if (line > 1) fail("{}:{}: not valid JSON at byte {}", where, line, byte);
  fail("{}: not valid JSON at byte {}", where, byte);
}

std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

JsonObject::JsonObject(const Json& value, std::string where) : value_(&value), where_(std::move(where)) {
  if (!value.is_object()) fail("{}: a JSON object is needed, in braces", where_);
}

const Json* JsonObject::find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

void JsonObject::fail_at(std::string_view key, std::string_view what) const {
  fail("{}: '{}' must be {}", where_, excerpt(key), what);
}

const Json& JsonObject::need(std::string_view key, std::string_view what) const {
  const Json* found = find(key);
  if (found == nullptr) fail("{}: '{}' is missing; it must be {}", where_, excerpt(key), what);
  return *found;
}

int64_t JsonObject::whole(std::string_view key, int64_t low, int64_t high) const {
  const std::string what = "a whole number" + range_text(low, high);
  const Json& value = need(key, what);
  if (!fits(value)) fail_at(key, what);
  const auto number = value.get<int64_t>();
  if (number < low || number > high) fail_at(key, what);
  return number;
}

double JsonObject::number(std::string_view key, double low, double high) const {
  const std::string what = "a number" + range_text(low, high);
  const Json& value = need(key, what);
  if (!value.is_number()) fail_at(key, what);
  const auto number = value.get<double>();
  if (!(number >= low && number <= high)) fail_at(key, what);
  return number;
}

const std::string& JsonObject::text(std::string_view key) const {
  const Json& value = need(key, "a text");
  if (!value.is_string()) fail_at(key, "a text");
  return value.get_ref<const std::string&>();
}

bool JsonObject::flag(std::string_view key) const {
  const Json& value = need(key, "true or false");
  if (!value.is_boolean()) fail_at(key, "true or false");
  return value.get<bool>();
}

const Json& JsonObject::array(std::string_view key) const {
  const Json& value = need(key, "an array");
  if (!value.is_array()) fail_at(key, "an array");
  return value;
}

JsonObject JsonObject::object(std::string_view key) const {
  const Json& value = need(key, "an object");
  if (!value.is_object()) fail_at(key, "an object");
  return {value, fmt::format("{}: '{}'", where_, excerpt(key))};
}

std::optional<int64_t> JsonObject::find_whole(std::string_view key, int64_t low, int64_t high) const {
  return has(key) ? std::optional(whole(key, low, high)) : std::nullopt;
}

std::optional<double> JsonObject::find_number(std::string_view key, double low, double high) const {
  return has(key) ? std::optional(number(key, low, high)) : std::nullopt;
}

std::optional<std::string> JsonObject::find_text(std::string_view key) const {
  return has(key) ? std::optional(text(key)) : std::nullopt;
}

void seal(Json& object) {
  LENGTHWISE_CHECK(object.is_object(), "only objects are sealed");
  object.erase("checksum");
  object["checksum"] = checksum_text(sum_without_seal(object));
}

void check_seal(const Json& object, std::string_view where) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.get_ref<const Json::object_t&>()) {
    if (name != "checksum") continue;
    if (value != checksum_text(sum_without_seal(object))) {
      fail("{} is damaged: its checksum is not that of what it says", where);
    }
  }
}

}  // namespace lengthwise
