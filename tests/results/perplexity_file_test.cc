#include "results/perplexity_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/files.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

Json row(const std::string& selection, int64_t window, int64_t stride) {
  return {{"selection", selection},
          {"step", 90},
          {"encoding", "rope"},
          {"protocol", stride == window ? "no-overlap" : "sliding"},
          {"window", window},
          {"stride", stride},
          {"documents", "apart"},
          {"split", "test"},
          {"corpus", "book.txt"},
          {"corpus_checksum", "crc32c:0123abcd"},
          {"tokenizer", "bytes"},
          {"parameters", 801024},
          {"trained_context", 128},
          {"batch_size", 32},
          {"precision", "bf16"},
          {"tokens", 30},
          {"bytes", 29},
          {"correct", 3},
          {"nats", 45.5},
          {"positions",
           {{{"from", 1}, {"to", 1}, {"tokens", 10}, {"nats", 20.0}},
            {{"from", 2}, {"to", window}, {"tokens", 20}, {"nats", 25.5}}}}};
}

Json file_of(const std::vector<Json>& rows) {
  Json json = {{"format", "lengthwise-perplexity"}, {"version", 1}, {"rows", rows}};
  seal(json);
  return json;
}

class PerplexityFile : public testing::Test {
 protected:
  std::vector<ContextRow> read(const Json& json, const std::string& weights = "best", int64_t last_step = 100) {
    write_file(folder_ / "perplexity.json", json_text(json));
    return read_perplexity(folder_.path(), weights, last_step);
  }
  std::string mistake(const Json& json) {
    return mistake_of([&] { read(json); });
  }

  TemporaryFolder folder_;
};

TEST_F(PerplexityFile, IsReadByWeights) {
  EXPECT_TRUE(read_perplexity(folder_.path(), "best", 100).empty()) << "no run must have one";
  const Json json = file_of({row("best", 256, 256), row("best", 256, 64), row("last", 512, 512)});
  const std::vector<ContextRow> best = read(json);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_FALSE(best[0].slides());
  EXPECT_TRUE(best[1].slides());
  EXPECT_EQ(best[0].nats, 45.5);
  ASSERT_EQ(best[0].positions.size(), 2u);
  EXPECT_EQ(best[0].positions[1].to, 256);
  EXPECT_EQ(best[0].positions[1].tokens, 20);
  EXPECT_EQ(read(json, "last").front().window, 512);
}

TEST_F(PerplexityFile, OfTheBestWeightsIsThatOfTheLastWhereTheyAreTheSame) {
  const Json json = file_of({row("best", 256, 256)});
  EXPECT_EQ(read(json, "last", 90).size(), 1u);
  EXPECT_EQ(read(json, "last", 100).size(), 0u);
}

TEST_F(PerplexityFile, SaysEverythingThatANumberRestsOn) {
  EXPECT_EQ(protocol_line(read(file_of({row("best", 256, 64)})).front()),
            "test text of book.txt (crc32c:0123abcd), bytes; 801.0k parameters, trained at 128 (90 steps of 32 "
            "windows), best weights; window 256, stride 64 (sliding); 30 tokens scored: all but each document's <bos>, "
            "which stands at its beginning alone; documents apart; bf16");
}

TEST_F(PerplexityFile, ALossThatIsNoNumberIsInfinite) {
  Json own = row("best", 256, 256);
  own["nats"] = nullptr;
  own["positions"][1]["nats"] = nullptr;
  const ContextRow found = read(file_of({own})).front();
  EXPECT_TRUE(std::isinf(found.nats));
  EXPECT_EQ(found.positions[0].nats, 20);
}

TEST_F(PerplexityFile, WhatIsDamagedIsRefused) {
  Json json = file_of({row("best", 256, 256)});
  json["rows"][0]["nats"] = 44;
  EXPECT_NE(mistake(json).find("damaged"), std::string::npos);
  json = file_of({});
  json.erase("checksum");
  json["version"] = 2;
  EXPECT_NE(mistake(json).find("was written by a later version"), std::string::npos);
  const auto changed = [&](const std::function<void(Json&)>& change) {
    Json own = row("best", 256, 256);
    change(own);
    return mistake(file_of({own}));
  };
  EXPECT_NE(changed([](Json& own) { own["tokens"] = 31; }).find("'positions' must be sums over the 31 tokens"),
            std::string::npos);
  EXPECT_NE(changed([](Json& own) { own["stride"] = 257; }).find("'stride'"), std::string::npos);
  EXPECT_NE(changed([](Json& own) { own["positions"][1]["from"] = 1; }).find("'from'"), std::string::npos);
  EXPECT_NE(changed([](Json& own) { own.erase("corpus"); }).find("'corpus'"), std::string::npos);
}

}  // namespace
}  // namespace lengthwise
