#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "data/json_string.h"
#include "data/vocabulary.h"

namespace lengthwise {
namespace {

constexpr const char* kFormat = "lengthwise-vocabulary";
constexpr int64_t kVersion = 1;

const char* glue_name(const Token& token) {
  if (token.glue_left && token.glue_right) return "both";
  return token.glue_left ? "left" : token.glue_right ? "right" : "";
}

/// One entry of "tokens"; `where` names the file and the entry.
Token read_token(const nlohmann::json& entry, const std::string& where) {
  if (!entry.is_object()) fail("{} must be an object such as {{\"text\":\"word\"}}", where);
  Token token;
  bool has_text = false;
  for (const auto& [key, value] : entry.items()) {
    if (key != "text" && key != "glue") fail("{} has an unknown key '{}'; it takes text and glue", where, excerpt(key));
    if (!value.is_string()) fail("{}: {} must be a string", where, key);
    const auto& text = value.get_ref<const std::string&>();
    if (key == "text") {
      token.text = text;
      has_text = true;
    } else if (text == "left" || text == "right" || text == "both") {
      token.glue_left = text != "right";
      token.glue_right = text != "left";
    } else {
      fail("{}: '{}' is no glue; there are left, right and both", where, excerpt(text));
    }
  }
  if (!has_text) fail("{} has no text", where);
  return token;
}

void check_piece(const Token& token, const std::string& where) {
  const std::vector<Piece> pieces = split_pieces(token.text);
  if (pieces.size() != 1 || pieces[0].text.size() != token.text.size()) {
    fail("{}: '{}' is not one word or symbol", where, excerpt(token.text));
  }
  if (pieces[0].is_word && token.glue() != 0) fail("{}: the word '{}' cannot have glue", where, excerpt(token.text));
}

void check_study_token(const Token& token, const std::string& where) {
  if (std::any_of(token.text.begin(), token.text.end(), is_space)) {
    fail("{}: '{}' has white space in it", where, excerpt(token.text));
  }
  if (token.glue_right || (token.text.empty() && token.glue_left)) {
    fail("{}: '{}' cannot have this glue", where, excerpt(token.text));
  }
}

}  // namespace

std::string Vocabulary::to_json() const {
  std::string json = fmt::format("{{\"format\":\"{}\",\"version\":{},{}\"tokens\":[\n", kFormat, kVersion,
                                 cut_ == Cut::study ? "\"cut\":\"study\"," : "");
  for (size_t id = 0; id < tokens_.size(); ++id) {
    json += "{\"text\":";
    append_json_string(json, tokens_[id].text);
    if (const std::string glue = glue_name(tokens_[id]); !glue.empty()) json += ",\"glue\":\"" + glue + '"';
    json += id + 1 < tokens_.size() ? "},\n" : "}\n";
  }
  return json + "]}\n";
}

Vocabulary Vocabulary::from_json(std::string_view json, const std::string& where) {
  nlohmann::json object;
  try {
    object = nlohmann::json::parse(json);
  } catch (const nlohmann::json::parse_error& error) {
    fail("{}: not valid JSON at byte {}", where, error.byte);
  } catch (const nlohmann::json::out_of_range&) {
    fail("{}: a number in it is too large", where);
  }
  // Only looked at by reference: copying or printing a value that is nested a million deep would exhaust the stack.
  if (!object.is_object() || !object.contains("format") || object["format"] != kFormat) {
    fail("{}: not a vocabulary; \"format\" must be \"{}\"", where, kFormat);
  }
  if (!object.contains("version") || object["version"] != kVersion) {
    fail("{}: not a version that is known here; \"version\" must be {}", where, kVersion);
  }
  const bool study = object.contains("cut");
  if (study && object["cut"] != "study") fail("{}: \"cut\" can only be \"study\"", where);
  if (!object.contains("tokens") || !object["tokens"].is_array()) fail("{}: \"tokens\" must be an array", where);
  const nlohmann::json& tokens = object["tokens"];
  Vocabulary vocabulary(study ? Cut::study : Cut::pieces);
  for (size_t id = 0; id < tokens.size(); ++id) {
    const std::string place = fmt::format("{}: token {}", where, id);
    Token token = read_token(tokens[id], place);
    if (id < kSpecials) {
      const Token& special = vocabulary.tokens_[id];
      if (token != special) fail("{} must be the special '{}', not '{}'", place, special.text, excerpt(token.text));
      continue;
    }
    study ? check_study_token(token, place) : check_piece(token, place);
    if (const int32_t first = vocabulary.find(token.text, token.glue()); first >= 0) {
      fail("{}: '{}' is token {} already", place, excerpt(token.text), first);
    }
    vocabulary.append(std::move(token));
  }
  if (tokens.size() < kSpecials) {
    fail("{}: the special '{}' is missing", where, vocabulary.tokens_[tokens.size()].text);
  }
  return vocabulary;
}

void Vocabulary::save(const std::filesystem::path& path) const {
  write_file(path, to_json());
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  return from_json(read_file(path), path.string());
}

}  // namespace lengthwise
