#include "core/config.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

struct Sample {
  bool dedup = false;
  int64_t count = 10;
  double rate = 0.5;
  std::string task = "copy";
  LengthRange lengths{1, 8};
  std::optional<int64_t> limit;
  std::optional<double> scale;
  std::optional<std::string> note;
  std::optional<LengthRange> extra;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("dedup", dedup, "");
    field("count", count, "");
    field("rate", rate, "");
    field("task", task, "");
    field("train-lengths", lengths, "");
    field("limit", limit, "");
    field("scale", scale, "");
    field("note", note, "");
    field("extra", extra, "");
  }
  bool operator==(const Sample&) const = default;
};

Sample unusual() {
  Sample sample;
  sample.dedup = true;
  sample.count = std::numeric_limits<int64_t>::min();
  sample.rate = 1.0 / 3;
  sample.task = "quote \" backslash \\ newline \n snow \xe2\x98\x83";
  sample.lengths = {3, 1'000'000};
  sample.limit = std::numeric_limits<int64_t>::max();
  sample.scale = 1e300;
  sample.note = "";
  sample.extra = LengthRange{2, 2};
  return sample;
}

template <class Value>
void expect_text_round_trip(const Value& value) {
  Value back{};
  from_text(to_text(value), back);
  EXPECT_EQ(back, value) << to_text(value);
}

template <class Value>
std::string text_error(std::string_view text) {
  Value value{};
  try {
    from_text(text, value);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string toml_error(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", text);
  Sample sample;
  try {
    read_toml(folder / "c.toml", sample);
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find(folder.path().string()), 0u) << "an error starts with the file: " << message;
    return message.substr(folder.path().string().size() + 1);
  }
  return "";
}

TEST(ConfigText, ReadsBackWhatItWrites) {
  expect_text_round_trip(true);
  expect_text_round_trip(false);
  expect_text_round_trip(std::numeric_limits<int64_t>::min());
  expect_text_round_trip(std::numeric_limits<int64_t>::max());
  for (const double value : {0.0, 0.1, 1.0 / 3, -2.5e-7, 3e-5, 1e22, 5e-324, 1.7976931348623157e308}) {
    expect_text_round_trip(value);
  }
  expect_text_round_trip(std::string("a b"));
  expect_text_round_trip(std::optional<int64_t>(7));
}

TEST(ConfigText, WantsTheWholeTextToBeTheValue) {
  for (const char* text : {"", " 1", "1 ", "1.5", "1e3", "1_000", "0x10", "99999999999999999999", "one"}) {
    EXPECT_NE(text_error<int64_t>(text), "") << "'" << text << "'";
  }
  for (const char* text : {"", "1.5x", "nan", "inf", "-inf", "1e999", "1,5"}) {
    EXPECT_NE(text_error<double>(text), "") << "'" << text << "'";
  }
  EXPECT_EQ(text_error<int64_t>("ten"), "'ten' is not a whole number");
  EXPECT_EQ(text_error<double>("ten"), "'ten' is not a number");
  EXPECT_EQ(text_error<bool>("maybe"), "'maybe' is neither true nor false");
}

TEST(ConfigJson, RoundTrips) {
  for (const Sample& sample : {Sample(), unusual()}) {
    nlohmann::ordered_json object;
    add_to_json(sample, object);
    const auto reparsed = nlohmann::ordered_json::parse(object.dump());
    Sample back;
    back.count = -1;
    back.task = "other";
    read_json(reparsed, "sample.json", back);
    EXPECT_EQ(back, sample) << object.dump(2);
  }
}

TEST(ConfigJson, HasJsonTypes) {
  nlohmann::ordered_json object;
  add_to_json(Sample(), object);
  EXPECT_EQ(object.dump(),
            R"({"dedup":false,"count":10,"rate":0.5,"task":"copy","train-lengths":"1:8","limit":null,"scale":null,)"
            R"("note":null,"extra":null})");
}

TEST(ConfigJson, ErrorsNameTheOriginAndTheKey) {
  Sample sample;
  const auto error_of = [&](const char* text) -> std::string {
    try {
      read_json(nlohmann::ordered_json::parse(text), "run.json", sample);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(R"({"cuont": 3})"), "run.json: there is no option 'cuont'; did you mean 'count'?");
  EXPECT_EQ(error_of(R"({"count": 1.5})"), "run.json: count: '1.5' is not a whole number");
  EXPECT_EQ(error_of(R"({"dedup": [1]})"), "run.json: dedup: '[1]' is neither true nor false");
}

TEST(ConfigToml, OverwritesWhatItNames) {
  const TemporaryFolder folder;
  write_file(folder / "c.toml",
             "# a comment\n"
             "count = 20\n"
             "rate = 3e-5\n"
             "limit = 5\n"
             "[data]\n"
             "task = \"sort\"\n"
             "train-lengths = \"2:4\"\n"
             "dedup = true\n");
  Sample sample;
  sample.note = "kept";
  read_toml(folder / "c.toml", sample);
  Sample expected;
  expected.count = 20;
  expected.rate = 3e-5;
  expected.limit = 5;
  expected.task = "sort";
  expected.lengths = {2, 4};
  expected.dedup = true;
  expected.note = "kept";
  EXPECT_EQ(sample, expected);
}

TEST(ConfigToml, AWholeNumberMayStandForANumber) {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", "rate = 2\ntrain-lengths = 5\n");
  Sample sample;
  read_toml(folder / "c.toml", sample);
  EXPECT_EQ(sample.rate, 2.0);
  EXPECT_EQ(sample.lengths, (LengthRange{5, 5}));
}

TEST(ConfigToml, ErrorsNameTheFileAndTheKey) {
  EXPECT_EQ(toml_error("cuont = 3\n"), "c.toml: there is no option 'cuont'; did you mean 'count'?");
  EXPECT_EQ(toml_error("count = 1.5\n"), "c.toml: count: '1.5' is not a whole number");
  EXPECT_EQ(toml_error("train-lengths = \"x\"\n"),
            "c.toml: train-lengths: 'x' is not a range of lengths; write LOW:HIGH, for example 1:8");
  EXPECT_EQ(toml_error("rate = 1\n\ncount = [1, 2]\n"), "c.toml:3: 'count' must be one string, number or truth value");
  EXPECT_EQ(toml_error("rate = 1\ncount 3\n").find("c.toml:2: "), 0u);
}

TEST(ConfigToml, AMissingFileIsAUsersMistake) {
  const TemporaryFolder folder;
  Sample sample;
  EXPECT_THROW(read_toml(folder / "nothing.toml", sample), UserError);
}

}  // namespace
}  // namespace lengthwise
