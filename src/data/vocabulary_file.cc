#include <algorithm>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "data/json_string.h"
#include "data/vocabulary.h"
#include "text/tokenizer.h"

namespace lengthwise {
namespace {

constexpr const char* kFormat = "lengthwise-vocabulary";
constexpr int64_t kVersion = 1;
// What no vocabulary of real data reaches, and what still fits into the memory of any machine.
constexpr int64_t kMostBytes = int64_t{256} << 20;
constexpr size_t kMostTokens = 10'000'000;

const char* glue_name(const Token& token) {
  if (token.glue_left && token.glue_right) return "both";
  return token.glue_left ? "left" : token.glue_right ? "right" : "";
}

/// One entry of "tokens"; `where` names the file and the entry.
Token read_token(const Json& entry, const std::string& where) {
  if (!entry.is_object()) fail("{} must be an object such as {{\"text\":\"word\"}}", where);
  Token token;
  bool has_text = false;
  for (const auto& [key, value] : entry.get_ref<const Json::object_t&>()) {
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

constexpr std::pair<Cut, const char*> kCuts[] = {
    {Cut::study, "study"}, {Cut::bytes, "bytes"}, {Cut::subwords, "subwords"}};

Cut read_cut(const Json& object, const std::string& where) {
  if (!object.contains("cut")) return Cut::pieces;
  for (const auto& [cut, name] : kCuts) {
    if (object["cut"] == name) return cut;
  }
  fail("{}: \"cut\" can only be \"study\", \"bytes\" or \"subwords\"", where);
}

/// `cut` and the list of tokens: what the checksum is of, however the file is laid out.
std::string body_of(const Vocabulary& vocabulary) {
  std::string json;
  for (const auto& [cut, name] : kCuts) {
    if (cut == vocabulary.cut()) json = fmt::format("\"cut\":\"{}\",", name);
  }
  json += "\"tokens\":[\n";
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const Token& token = vocabulary.token(id);
    json += "{\"text\":";
    append_json_string(json, token.text);
    if (const std::string glue = glue_name(token); !glue.empty()) json += ",\"glue\":\"" + glue + '"';
    json += id + 1 < vocabulary.size() ? "},\n" : "}\n";
  }
  return json + "]";
}

}  // namespace

std::string Vocabulary::to_json() const {
  const std::string body = body_of(*this);
  return fmt::format("{{\"format\":\"{}\",\"version\":{},\"checksum\":\"{}\",{}}}\n", kFormat, kVersion,
                     checksum_of(body), body);
}

Vocabulary Vocabulary::from_json(std::string_view json, const std::string& where) {
  const Json object = parse_json(json, where);
  if (!object.is_object() || !object.contains("format") || object["format"] != kFormat) {
    fail("{}: not a vocabulary; \"format\" must be \"{}\"", where, kFormat);
  }
  if (!object.contains("version") || object["version"] != kVersion) {
    fail("{}: not a version that is known here; \"version\" must be {}", where, kVersion);
  }
  const Cut cut = read_cut(object, where);
  if (!object.contains("tokens") || !object["tokens"].is_array()) fail("{}: \"tokens\" must be an array", where);
  const Json& tokens = object["tokens"];
  if (tokens.size() > kMostTokens) fail("{}: {} tokens are more than {}", where, tokens.size(), kMostTokens);
  Vocabulary vocabulary(cut);
  for (size_t id = 0; id < tokens.size(); ++id) {
    const std::string place = fmt::format("{}: token {}", where, id);
    Token token = read_token(tokens[id], place);
    if (id < kSpecials) {
      const Token& special = vocabulary.tokens_[id];
      if (token != special) fail("{} must be the special '{}', not '{}'", place, special.text, excerpt(token.text));
      continue;
    }
    if (cut == Cut::study) check_study_token(token, place);
    if (cut == Cut::pieces) check_piece(token, place);
    if (is_text_cut(cut) && (token.text.empty() || token.glue() != 0)) fail("{} must have a text and no glue", place);
    if (const int32_t first = vocabulary.find(token.text, token.glue()); first >= 0) {
      fail("{}: '{}' is token {} already", place, excerpt(token.text), first);
    }
    vocabulary.append(std::move(token));
  }
  if (tokens.size() < kSpecials) {
    fail("{}: the special '{}' is missing", where, vocabulary.tokens_[tokens.size()].text);
  }
  if (cut == Cut::bytes && vocabulary != Vocabulary(cut, make_byte_tokenizer()->texts())) {
    fail("{}: with the cut \"bytes\" the tokens must be the 256 bytes in their order", where);
  }
  // Earlier versions wrote none.
  if (object.contains("checksum") && object["checksum"] != checksum_of(body_of(vocabulary))) {
    fail(
        "{} is damaged: its checksum is not that of its tokens (take \"checksum\" out if they were changed on purpose)",
        where);
  }
  return vocabulary;
}

void Vocabulary::save(const std::filesystem::path& path) const {
  write_file(path, to_json());
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  return from_json(read_file(path, kMostBytes), shown(path));
}

}  // namespace lengthwise
