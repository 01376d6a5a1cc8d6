// Encodings by name: one text for one meaning, mistakes that are pointed at, sums and mixtures.
#include "positional/named.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "positional/registry.h"

namespace lengthwise {
namespace {

std::string canonical(std::string_view text, const EncodingFlags& flags = {}) {
  return to_text(read_encoding(text, flags));
}

std::string mistake(std::string_view text) {
  try {
    Parameters parameters;
    const EncodingShape shape{.layers = 3, .heads = 2, .head_dim = 8, .width = 16};
    const auto encoding = make_encoding(read_encoding(text), shape, {parameters, "encoding."});
    parameters.allocate_zeros(at::kFloat);
    kinds_of(*encoding, shape);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(NamedEncodings, HaveOneText) {
  EXPECT_EQ(canonical("Rotary"), "rope");
  EXPECT_EQ(canonical("none"), "nope");
  EXPECT_EQ(canonical("ape"), "sinusoidal");
  EXPECT_EQ(canonical("absolute"), "sinusoidal");
  EXPECT_EQ(canonical("rope(fraction=0.250, base=1e4)"), "rope");
  EXPECT_EQ(canonical("rope(base=500000,fraction=1.0)"), "rope(fraction=1,base=500000)");
  EXPECT_EQ(canonical("window + alibi"), "alibi+window");
  EXPECT_EQ(canonical("alibi+none"), "alibi");
  EXPECT_EQ(canonical("layers(rotary, none)"), "layers(rope,nope)");
}

TEST(NamedEncodings, TakeOlderOptionsWhereTheTextSaysNothing) {
  const EncodingFlags flags{{"rotary-fraction", "1"}, {"t5-buckets", "16"}};
  EXPECT_EQ(canonical("rope", flags), "rope(fraction=1)");
  EXPECT_EQ(canonical("rope(fraction=0.5)", flags), "rope(fraction=0.5)");
  EXPECT_EQ(canonical("layers(rope,t5)", flags), "layers(rope(fraction=1),t5(buckets=16))");
  EXPECT_EQ(canonical("alibi", flags), "alibi");
}

TEST(NamedEncodings, PointAtMistakes) {
  EXPECT_EQ(mistake("alibbi"),
            "there is no encoding 'alibbi' (`lengthwise encodings` lists them); did you mean 'alibi'?");
  EXPECT_EQ(
      mistake("layers(rope,alibbi)"),
      "the encoding 'layers(rope,alibbi)', character 13: there is no encoding 'alibbi' (`lengthwise encodings` lists "
      "them); did you mean 'alibi'?");
  EXPECT_EQ(
      mistake("rope(fractoin=1)"),
      "the encoding 'rope(fractoin=1)', character 6: rope has no option 'fractoin'; it has fraction, base; did you "
      "mean 'fraction'?");
  EXPECT_EQ(mistake("alibi+alibi"), "the encoding 'alibi+alibi', character 7: alibi is in the sum twice");
  EXPECT_EQ(mistake("rope(nope)"), "the encoding 'rope(nope)', character 1: rope is made of no other encodings");
  EXPECT_EQ(mistake("layers"),
            "the encoding 'layers', character 1: layers is made of other encodings, as in layers(rope)");
  EXPECT_EQ(mistake("rope(fraction=two)"), "the encoding rope: fraction (--rotary-fraction) must be a number, not two");
  EXPECT_EQ(mistake("t5(buckets=1)"), "the encoding t5: buckets (--t5-buckets) must be between 2 and 4096, not 1");
  EXPECT_EQ(mistake("layers(rope,nope,alibi,t5)"), "layers(...) names 4 encodings for the 3 layers of the model");
  EXPECT_EQ(mistake("layers(sinusoidal,nope)"),
            "layers(...): sinusoidal adds to the embeddings, in front of all layers");
}

TEST(NamedEncodings, DescribeWhatTheyAreMadeOf) {
  const EncodingInfo mixed = describe_encoding(read_encoding("layers(t5,sinusoidal)"));
  EXPECT_EQ(mixed.name, "layers(t5,sinusoidal)");
  EXPECT_EQ(mixed.label, "T5 / Sinusoidal");
  EXPECT_FALSE(mixed.translation_invariant);
  EXPECT_TRUE(mixed.absolute);
}

TEST(NamedEncodings, HaveShortLabels) {
  const auto label = [](const char* text) { return describe_encoding(read_encoding(text)).label; };
  EXPECT_EQ(label("rope"), "RoPE");
  EXPECT_EQ(label("rope(fraction=1)"), "RoPE fraction=1");
  EXPECT_EQ(label("alibi+window"), "ALiBi + Window");
  EXPECT_EQ(label("alibi+window(size=8)"), "ALiBi + Window size=8");
  EXPECT_EQ(label("layers(rope,rope,rope,nope)"), "RoPE ×3 / NoPE");
  EXPECT_EQ(label("layers(rope,nope,rope,nope)"), "RoPE / NoPE / RoPE / NoPE");
  EXPECT_EQ(label("layers(rope+window,rope+window,nope)"), "(RoPE + Window) ×2 / NoPE");
  EXPECT_EQ(label("layers(rope,nope)+ssmax"), "SSMax + (RoPE / NoPE)");
}

TEST(NamedEncodings, KeepNamesLabelsAndAliasesApart) {
  std::vector<std::string> names, labels;
  for (const EncodingEntry* entry : encodings()) {
    names.push_back(entry->info.name);
    for (const std::string& alias : entry->info.aliases) names.push_back(alias);
    labels.push_back(entry->info.label);
    EXPECT_FALSE(entry->info.formula.empty() || entry->info.paper.empty() || entry->info.family.empty())
        << names.back();
    for (const EncodingOption& option : entry->options) EXPECT_FALSE(option.help.empty()) << names.back();
  }
  for (std::vector<std::string>* list : {&names, &labels}) {
    std::sort(list->begin(), list->end());
    EXPECT_EQ(std::adjacent_find(list->begin(), list->end()), list->end());
  }
}

}  // namespace
}  // namespace lengthwise
