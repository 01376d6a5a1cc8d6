#include "positional/part_names.h"

#include <gtest/gtest.h>

namespace lengthwise {
namespace {

std::string trained_name(const std::string& name, std::string_view read, std::string_view trained) {
  return TrainedNames(read, trained)(name);
}

TEST(PartNames, AreWhereThePartWasTrained) {
  const std::string bias = "encoding.relative_bias";
  EXPECT_EQ(trained_name("encoding.t5.relative_bias", "t5+window(size=8)", "t5"), bias);
  EXPECT_EQ(trained_name(bias, "t5", "t5+window(size=8)"), "encoding.t5.relative_bias");
  EXPECT_EQ(trained_name("encoding.t5.relative_bias", "rope+t5", "t5+window(size=8)"), "encoding.t5.relative_bias");
  EXPECT_EQ(trained_name("encoding.0.t5.relative_bias", "layers(t5+window(size=8),nope)", "layers(t5,nope)"),
            "encoding.0.relative_bias");
  EXPECT_EQ(trained_name("encoding.layers.1.relative_bias", "layers(nope,t5)+window(size=8)", "layers(nope,t5)"),
            "encoding.1.relative_bias");
  EXPECT_EQ(trained_name("encoding.layers.1.relative_bias", "layers(nope,t5)+window(size=8)",
                         "layers(rope,t5+window(size=4))"),
            "encoding.1.t5.relative_bias");
}

TEST(PartNames, StayWhereNothingIsInCommonOrNothingMoves) {
  for (const auto& [read, trained] : {std::pair{"t5", "t5"},
                                      {"t5(max-distance=64)", "t5"},
                                      {"yarn", "rope"},
                                      {"randomized(t5,max=64)", "t5"},
                                      {"t5", "rope"},
                                      {"alibi+window(size=8)", "rope"},
                                      {"layers(t5,nope)", "layers(t5,nope,nope)"}}) {
    EXPECT_EQ(trained_name("encoding.relative_bias", read, trained), "encoding.relative_bias")
        << read << " " << trained;
  }
  EXPECT_EQ(trained_name("layers.0.attention.qkv", "t5+window(size=8)", "t5"), "layers.0.attention.qkv");
}

}  // namespace
}  // namespace lengthwise
