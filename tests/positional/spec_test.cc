// The language of encodings: what is read, what is written back, and where mistakes are pointed at.
#include "positional/spec.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace lengthwise {
namespace {

std::string again(std::string_view text) {
  return to_text(parse_spec(text));
}

std::string mistake(std::string_view text) {
  try {
    parse_spec(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Spec, IsReadAndWrittenBack) {
  for (const char* text : {"nope", "alibi-learned", "rope(fraction=0.5)", "alibi+ssmax", "layers(rope,rope,rope,nope)",
                           "randomized(t5,max=512)", "layers(rope(fraction=1)+log-n,window(nope,size=128))",
                           "rope(fraction=0.25,base=1e6)"})
    EXPECT_EQ(again(text), text);
}

TEST(Spec, HasOneTextForOneMeaning) {
  EXPECT_EQ(again(" RoPE ( fraction = 0.5 ) "), "rope(fraction=0.5)");
  EXPECT_EQ(again("randomized(max=512, T5)"), "randomized(t5,max=512)");
  EXPECT_EQ(again("alibi + ssmax"), "alibi+ssmax");
  EXPECT_EQ(again("kerple_log"), "kerple-log");
}

TEST(Spec, KnowsWhereThingsStand) {
  const EncodingSpec spec = parse_spec("layers(rope,t5(buckets=16))");
  EXPECT_EQ(spec.parts[1].at, 12U);
  EXPECT_EQ(spec.parts[1].options[0].at, 15U);
}

TEST(Spec, PointsAtMistakes) {
  EXPECT_EQ(mistake(""), "the encoding '', character 1: the name of an encoding is expected there, not the end");
  EXPECT_EQ(mistake("rope("),
            "the encoding 'rope(', character 6: the name of an encoding is expected there, not the end");
  EXPECT_EQ(mistake("rope()"),
            "the encoding 'rope()', character 6: the name of an encoding is expected there, not ')'");
  EXPECT_EQ(mistake("rope(fraction=)"),
            "the encoding 'rope(fraction=)', character 15: a value of fraction is expected there, not ')'");
  EXPECT_EQ(mistake("rope(fraction=1"),
            "the encoding 'rope(fraction=1', character 16: ',' or ')' is expected there, not the end");
  EXPECT_EQ(mistake("rope)"), "the encoding 'rope)', character 5: the end is expected there, not ')'");
  EXPECT_EQ(mistake("alibi+"),
            "the encoding 'alibi+', character 7: the name of an encoding is expected there, not the end");
  EXPECT_EQ(mistake("rope(base=1,base=2)"), "the encoding 'rope(base=1,base=2)', character 13: base is given twice");
  EXPECT_NE(mistake(std::string(2000, 'a')).find("2000 characters, more than 1000"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 12; ++i) deep += "a(";
  EXPECT_NE(mistake(deep).find("more than 8 brackets in each other"), std::string::npos) << mistake(deep);
}

}  // namespace
}  // namespace lengthwise
