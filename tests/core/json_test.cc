#include "core/json.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/core/mistake.h"

namespace lengthwise {
namespace {

std::string mistake(const std::string& text) {
  return mistake_of([&] { parse_json(text, "a.json"); });
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ParseJson, ReadsEveryKindOfValueInOrder) {
  const std::string text =
      R"({"z":1,"a":[-2,2.5,true,false,null,"x\u00e9"],"m":{"":{}},"big":18446744073709551615,"e":[]})";
  EXPECT_EQ(json_text(parse_json(text, "a.json")),
            "{\"z\":1,\"a\":[-2,2.5,true,false,null,\"x\xC3\xA9\"],\"m\":{\"\":{}},\"big\":18446744073709551615,"
            "\"e\":[]}");
  EXPECT_EQ(parse_json(" 3 ", "a.json"), 3);
}

TEST(ParseJson, SaysWhereItIsWrong) {
  EXPECT_EQ(mistake(""), "a.json: not valid JSON at byte 1");
  EXPECT_EQ(mistake("{\"a\":1,}"), "a.json: not valid JSON at byte 8");
  EXPECT_EQ(mistake("{\n\n\"a\":x}"), "a.json:3: not valid JSON at byte 8");
  EXPECT_EQ(mistake("1 2"), "a.json: not valid JSON at byte 3");
  EXPECT_EQ(mistake("\"a\xff\""), "a.json: not valid JSON at byte 3") << "not UTF-8";
  EXPECT_EQ(mistake("[1e900]"), "a.json: a number in it is too large");
  EXPECT_EQ(mistake("// x\n1"), "a.json: not valid JSON at byte 1");
}

TEST(ParseJson, RefusesKeysThatOccurTwice) {
  EXPECT_EQ(mistake(R"({"a":1,"b":{"a":2},"a":3})"), "a.json: 'a' stands in one object twice");
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) many += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_EQ(mistake(many + "\"last\":0}"), "");
  EXPECT_EQ(mistake(many + "\"k999\":0}"), "a.json: 'k999' stands in one object twice");
  EXPECT_EQ(mistake(many + "\"k3\":0}"), "a.json: 'k3' stands in one object twice");
}

TEST(ParseJson, LimitsTheDepth) {
  EXPECT_EQ(mistake(nested(kDeepestJson)), "");
  EXPECT_EQ(mistake(nested(kDeepestJson + 1)), "a.json: nested more than 100 deep");
  EXPECT_EQ(mistake(nested(1'000'000)), "a.json: nested more than 100 deep");
  EXPECT_EQ(mistake(std::string(1'000'000, '[')), "a.json: nested more than 100 deep");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(mistake(objects), "a.json: nested more than 100 deep");
}

TEST(ParseJson, IsLinearInTheNumberOfKeys) {
  std::string many = "{";
  for (int i = 0; i < 200'000; ++i) many += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(parse_json(many + "\"last\":0}", "a.json").size(), 200'001U);  // minutes if each were compared with all
}

TEST(JsonText, ReplacesWhatIsNoText) {
  EXPECT_EQ(json_text(Json("a\xff")), "\"a\xEF\xBF\xBD\"");
}

TEST(JsonObject, GivesWhatItNames) {
  const Json json =
      parse_json(R"({"step":7,"loss":0.5,"name":"x","on":true,"list":[1],"best":{"step":3},"nothing":null})", "a.json");
  const JsonObject object(json, "a.json");
  EXPECT_EQ(object.whole("step"), 7);
  EXPECT_EQ(object.whole("step", 7, 7), 7);
  EXPECT_EQ(object.number("loss", 0, 1), 0.5);
  EXPECT_EQ(object.number("step"), 7.0);
  EXPECT_EQ(object.text("name"), "x");
  EXPECT_TRUE(object.flag("on"));
  EXPECT_EQ(object.array("list").size(), 1U);
  EXPECT_EQ(object.object("best").whole("step"), 3);
  EXPECT_EQ(object.find_whole("nothing"), std::nullopt);
  EXPECT_EQ(object.find_number("absent"), std::nullopt);
  EXPECT_EQ(object.find_text("name"), "x");
  EXPECT_FALSE(object.has("nothing"));
  EXPECT_EQ(object.members().size(), 7U);
}

TEST(JsonObject, SaysWhatWouldBeRight) {
  const Json json = parse_json(
      R"({"step":-1,"name":3,"half":0.5,"huge":9223372036854775808,"best":{"step":"x"},"nothing":null})", "a.json");
  const JsonObject object(json, "a.json");
  EXPECT_EQ(mistake_of([&] { object.whole("step", 0, 9); }), "a.json: 'step' must be a whole number from 0 to 9");
  EXPECT_EQ(mistake_of([&] { object.whole("step", 0); }), "a.json: 'step' must be a whole number of at least 0");
  EXPECT_EQ(mistake_of([&] { object.whole("half"); }), "a.json: 'half' must be a whole number");
  EXPECT_EQ(mistake_of([&] { object.whole("huge"); }), "a.json: 'huge' must be a whole number");
  EXPECT_EQ(mistake_of([&] { object.number("name", 0, 1); }), "a.json: 'name' must be a number from 0 to 1");
  EXPECT_EQ(mistake_of([&] { object.text("name"); }), "a.json: 'name' must be a text");
  EXPECT_EQ(mistake_of([&] { object.flag("name"); }), "a.json: 'name' must be true or false");
  EXPECT_EQ(mistake_of([&] { object.array("name"); }), "a.json: 'name' must be an array");
  EXPECT_EQ(mistake_of([&] { object.object("name"); }), "a.json: 'name' must be an object");
  EXPECT_EQ(mistake_of([&] { object.text("nothing"); }), "a.json: 'nothing' is missing; it must be a text");
  EXPECT_EQ(mistake_of([&] { object.find_whole("absent", 5); }), "");
  EXPECT_EQ(mistake_of([&] { object.find_whole("half"); }), "a.json: 'half' must be a whole number");
  EXPECT_EQ(mistake_of([&] { object.object("best").whole("step"); }), "a.json: 'best': 'step' must be a whole number");
  const Json list = Json::array();
  EXPECT_EQ(mistake_of([&] { JsonObject(list, "a.json"); }), "a.json: a JSON object is needed, in braces");
}

TEST(Seal, NoticesEveryChangeAndNoLayout) {
  Json json = parse_json(R"({"a":1,"b":[0.1,"x"],"c":{"d":null}})", "a.json");
  check_seal(json, "a.json");  // none, as in older files
  seal(json);
  seal(json);
  EXPECT_EQ(json.size(), 4U);
  const std::string text = json_text(json);
  check_seal(parse_json(json_text(json, 2), "a.json"), "a.json");
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const std::string message = mistake_of([&] {
      const Json read = parse_json(damaged, "a.json");
      check_seal(read, "a.json");
      // What passes is a damaged name of the seal itself; everything else is as it was.
      Json rest = read;
      for (const auto& [key, value] : json.items()) {
        if (key == "checksum") continue;
        EXPECT_EQ(rest[key], value) << damaged;
      }
    });
    refused += message.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 8 * (text.size() - 10));
}

}  // namespace
}  // namespace lengthwise
