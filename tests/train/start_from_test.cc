// Beginning with weights that are there: what fits is taken, what does not is said.
#include "train/start_from.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/files.h"
#include "model/decoder.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "text/tokenizer.h"
#include "train/checkpoint.h"

namespace lengthwise {
namespace {

ModelConfig model_for(const Vocabulary& vocabulary, const std::string& encoding, int64_t width = 16) {
  ModelConfig config;
  config.layers = 1;
  config.width = width;
  config.heads = 2;
  config.ff_width = 8;
  config.encoding = encoding;
  return resolve(config, vocabulary.size());
}

class StartFrom : public testing::Test {
 protected:
  StartFrom() {
    there_.add("Sort these: 1 2 3.");
    make_folder(folder_ / "run");
    there_.save(folder_ / "run/vocabulary.json");
    write_weights(folder_ / "run/best.safetensors", source().parameters(), 7);
  }

  Decoder& source() {
    if (!decoder_) decoder_ = std::make_unique<Decoder>(model_for(there_, "nope"), 1);
    return *decoder_;
  }

  static at::Tensor value(const Decoder& decoder, const std::string& name) {
    for (const Parameter& parameter : decoder.parameters().all()) {
      if (parameter.name == name) return parameter.value.detach();
    }
    return {};
  }

  TemporaryFolder folder_;
  Vocabulary there_;
  std::unique_ptr<Decoder> decoder_;
};

TEST_F(StartFrom, TheSameModelIsTheSameInEveryBit) {
  Decoder fresh(model_for(there_, "nope"), 2);
  const std::string line = start_from(read_starting_weights(folder_ / "run"), there_, fresh);
  EXPECT_TRUE(at::equal(fresh.parameters().values(), source().parameters().values()));
  EXPECT_NE(line.find("8 of 8 parameters"), std::string::npos) << line;
  EXPECT_EQ(line.find("anew"), std::string::npos) << line;
}

TEST_F(StartFrom, TokensAreFoundByTheirText) {
  Vocabulary here;
  here.add("Add 3 2 and sort these.");
  Decoder fresh(model_for(here, "t5"), 2);
  const Decoder untouched(model_for(here, "t5"), 2);
  const std::string line = start_from(read_starting_weights(folder_ / "run"), here, fresh);
  EXPECT_NE(line.find("7 of 10 tokens"), std::string::npos) << line;  // three specials, 3, 2, these and the period
  EXPECT_NE(line.find("begun anew: encoding.relative_bias"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
  int matched = 0;
  for (int32_t id = 0; id < here.size(); ++id) {
    const at::Tensor row = value(fresh, "embedding")[id];
    int32_t place = -1;
    for (int32_t other = 0; other < there_.size(); ++other) {
      if (there_.token(other) == here.token(id)) place = other;
    }
    matched += place >= 0 ? 1 : 0;
    EXPECT_TRUE(at::equal(row, place >= 0 ? value(source(), "embedding")[place] : value(untouched, "embedding")[id]))
        << here.token(id).text;
  }
  EXPECT_EQ(matched, 7);
  EXPECT_TRUE(at::equal(value(fresh, "layers.0.attention.qkv"), value(source(), "layers.0.attention.qkv")));
  EXPECT_TRUE(at::equal(value(fresh, "encoding.relative_bias"), value(untouched, "encoding.relative_bias")));
}

// A text's tokens have no glue, and subwords a space of their own; a task's are words and symbols.
TEST_F(StartFrom, TokensOfATextAreFoundByWhatTheyStandFor) {
  Vocabulary task;
  task.add("Sort the 3, 1.");
  const auto taken = [&](const Vocabulary& text) {
    make_folder(folder_ / "text");
    text.save(folder_ / "text/vocabulary.json");
    const Decoder trained(model_for(text, "nope"), 1);
    write_weights(folder_ / "text/best.safetensors", trained.parameters(), 7);
    Decoder fresh(model_for(task, "nope"), 2);
    const std::string line = start_from(read_starting_weights(folder_ / "text"), task, fresh);
    std::map<std::string, std::string> found;
    for (int32_t id = Vocabulary::kSpecials; id < task.size(); ++id) {
      for (int32_t other = 0; other < text.size(); ++other) {
        if (at::equal(value(fresh, "embedding")[id], value(trained, "embedding")[other]))
          found[task.token(id).text] = text.token(other).text;
      }
    }
    return std::pair(line, found);
  };
  using Found = std::map<std::string, std::string>;
  const auto [line, found] =
      taken(Vocabulary(Cut::subwords, {"the", "\u2581the", "3", "\u2581Sorted", ".", "\u2581,"}));
  EXPECT_EQ(found, (Found{{"the", "\u2581the"}, {"3", "3"}, {".", "."}}));
  EXPECT_NE(line.find("6 of 9 tokens (not there: Sort , 1)"), std::string::npos) << line;
  const auto [bytes_line, bytes] = taken(Vocabulary(Cut::bytes, make_byte_tokenizer()->texts()));
  EXPECT_EQ(bytes, (Found{{"3", "3"}, {",", ","}, {"1", "1"}, {".", "."}}));
  EXPECT_NE(bytes_line.find("7 of 9 tokens (not there: Sort the)"), std::string::npos) << bytes_line;
}

TEST_F(StartFrom, AFileWithoutVocabularyIsTakenAsItStands) {
  make_folder(folder_ / "bare");
  write_file(folder_ / "bare/made.safetensors", read_file(folder_ / "run/best.safetensors"));
  Decoder fresh(model_for(there_, "nope"), 2);
  start_from(read_starting_weights(folder_ / "bare/made.safetensors"), there_, fresh);
  EXPECT_TRUE(at::equal(fresh.parameters().values(), source().parameters().values()));
  Vocabulary larger = there_;
  larger.add("more");
  Decoder other(model_for(larger, "nope"), 2);
  const std::string line = start_from(read_starting_weights(folder_ / "bare/made.safetensors"), larger, other);
  EXPECT_NE(line.find("anew: embedding (of another shape there)"), std::string::npos) << line;
}

TEST_F(StartFrom, TheChecksumIsThatOfTheContent) {
  const std::string checksum = read_starting_weights(folder_ / "run").checksum;
  TensorFile file = read_safetensors(folder_ / "run/best.safetensors");
  std::reverse(file.tensors.begin(), file.tensors.end());
  file.metadata["step"] = "8";
  make_folder(folder_ / "moved");
  write_safetensors(folder_ / "moved/last.safetensors", file);
  there_.save(folder_ / "moved/vocabulary.json");
  EXPECT_EQ(read_starting_weights(folder_ / "moved/last.safetensors").checksum, checksum);
  file.tensors.front().second.view({-1}).select(0, 0).add_(1e-3);
  write_safetensors(folder_ / "moved/last.safetensors", file);
  EXPECT_NE(read_starting_weights(folder_ / "moved/last.safetensors").checksum, checksum);
}

TEST_F(StartFrom, NoiseIsAShareOfEachTensor) {
  Decoder& decoder = source();
  const Decoder before(model_for(there_, "nope"), 1);
  value(decoder, "layers.0.ff.norm").zero_();
  value(decoder, "layers.0.ff.out").mul_(100);
  constexpr double kShare = 0.25;
  disturb(decoder.parameters(), kShare, 3);
  EXPECT_TRUE(at::equal(value(decoder, "layers.0.ff.norm"), at::zeros({16}))) << "a tensor of zeros stays one";
  for (const auto& [name, scale] : {std::pair("embedding", 1.0), std::pair("layers.0.attention.qkv", 1.0),
                                    std::pair("layers.0.ff.out", 100.0), std::pair("norm", 1.0)}) {
    const at::Tensor old = value(before, name).to(at::kDouble) * scale;
    const at::Tensor noise = value(decoder, name).to(at::kDouble) - old;
    const double count = static_cast<double>(old.numel());
    const double unit = kShare * std::sqrt(old.square().mean().item<double>());
    EXPECT_NEAR(noise.mean().item<double>() / unit, 0, 4 / std::sqrt(count)) << name;
    EXPECT_NEAR(noise.square().mean().item<double>() / (unit * unit), 1, 4 * std::sqrt(2 / count)) << name;
  }
}

TEST_F(StartFrom, NoiseIsThatOfTheSeed) {
  const auto disturbed = [&](double share, uint64_t seed) {
    Decoder decoder(model_for(there_, "nope"), 1);
    disturb(decoder.parameters(), share, seed);
    return decoder.parameters().values().clone();
  };
  EXPECT_TRUE(at::equal(disturbed(0.1, 5), disturbed(0.1, 5)));
  EXPECT_FALSE(at::equal(disturbed(0.1, 5), disturbed(0.1, 6)));
  EXPECT_TRUE(at::equal(disturbed(0, 5), source().parameters().values()));
  const at::Tensor change = disturbed(0.1, 5) - source().parameters().values();
  const at::Tensor twice = disturbed(0.2, 5) - source().parameters().values();
  EXPECT_TRUE(at::allclose(twice, 2 * change, 1e-4, 1e-6)) << "the same direction, twice as far";
  EXPECT_GT((change - disturbed(0.1, 6) + source().parameters().values()).abs().max().item<float>(), 0.01F);
}

TEST_F(StartFrom, WhatCannotBeUsedIsRefusedInOneLine) {
  Decoder wide(model_for(there_, "nope", 32), 2);
  EXPECT_NE(
      mistake_of([&] { start_from(read_starting_weights(folder_ / "run"), there_, wide); }).find("no layer of it fits"),
      std::string::npos);
  EXPECT_NE(mistake_of([&] { read_starting_weights(folder_ / "nowhere"); }).find("nowhere"), std::string::npos);
  make_folder(folder_ / "empty");
  EXPECT_NE(mistake_of([&] { read_starting_weights(folder_ / "empty"); }).find("has no best.safetensors"),
            std::string::npos);
  source().parameters().values().select(0, 0).fill_(std::numeric_limits<float>::infinity());
  write_weights(folder_ / "run/best.safetensors", source().parameters(), 7);
  EXPECT_NE(mistake_of([&] { read_starting_weights(folder_ / "run"); }).find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace lengthwise
