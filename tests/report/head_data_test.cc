// What a report takes from heads.json, and what it refuses.
#include "report/head_data.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/base64.h"
#include "core/files.h"
#include "report/write_report.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "tests/results/made_run.h"

namespace lengthwise {
namespace {

constexpr size_t kSide = 3;

StoredAnalysis made_heads(const std::string& bytes = "abcdefghi") {
  StoredAnalysis stored;
  stored.name = "heads";
  stored.weights = "best";
  stored.trained_length = 8;
  Json heads = Json::array();
  for (const char* content : {"task", "exchanged"}) {
    for (const int length : {8, 16}) {
      for (int layer = 1; layer <= 2; ++layer) {
        for (int head = 1; head <= 3; ++head) {
          heads.push_back({{"content", content},
                           {"length", length},
                           {"layer", layer},
                           {"head", head},
                           {"class", head == 1 ? "previous" : "content"},
                           {"positional", head == 1},
                           {"survives", 0.123456},
                           {"entropy", 0.5},
                           {"distance", 0.25},
                           {"distances", 3},
                           {"profile", {0.5, 0.25, -0.75}}});
          if (head == 1)
            heads.back().update({{"family", "linear"},
                                 {"contested", true},
                                 {"slope", 0.12},
                                 {"r2", 0.9},
                                 {"fitted", {nullptr, 0.2, -0.7}}});
        }
      }
    }
  }
  Json maps = Json::array();
  for (const int length : {8, 16}) {
    const Json layer = std::vector<std::string>(3, base64(bytes));
    maps.push_back({{"length", length},
                    {"side", kSide},
                    {"tokens", 4},
                    {"words", {"a", "<b>", "", "d"}},
                    {"maps", {layer, layer}}});
  }
  stored.summary = {{"heads", heads}, {"maps", maps}};
  return stored;
}

Json atlas_of(const StoredAnalysis& stored) {
  HeadAtlas atlas;
  atlas.add(7, stored, "");
  return atlas.take()[0];
}

TEST(HeadData, HasEveryHeadOnceByLayersThenHeads) {
  StoredAnalysis stored = made_heads();
  std::swap(stored.summary["heads"][0], stored.summary["heads"][4]);  // whatever the order in the file
  const Json entry = atlas_of(stored);
  EXPECT_EQ(entry["run"], 7);
  EXPECT_EQ(entry["trained"], 8);
  EXPECT_EQ(entry["layers"], 2);
  EXPECT_EQ(entry["heads"], 3);
  ASSERT_EQ(entry["groups"].size(), 4U);
  EXPECT_EQ(entry["groups"][1]["length"], 16);
  EXPECT_EQ(entry["groups"][3]["content"], "exchanged");
  const Json& cells = entry["groups"][0]["cells"];
  ASSERT_EQ(cells.size(), 6U);
  EXPECT_EQ(cells[3], Json::parse(R"(["previous",true,0.1235,0.5,0.25,"linear",true,0.12,0.9,3,[0.5,0.25,-0.75],
                                      [null,0.2,-0.7]])"));
  EXPECT_EQ(cells[1], Json::parse(R"(["content",false,0.1235,0.5,0.25,null,false,null,null,3,[0.5,0.25,-0.75],null])"));
}

TEST(HeadData, MapsEndAtTheDiagonal) {
  const Json map = atlas_of(made_heads())["maps"][1];
  EXPECT_EQ(map["length"], 16);
  EXPECT_EQ(map["words"], Json::parse(R"(["a","<b>","","d"])"));
  ASSERT_EQ(map["cells"].size(), 6U);
  EXPECT_EQ(from_base64(map["cells"][5].get<std::string>()), "adeghi");
}

TEST(HeadData, NeedNotHaveMaps) {
  StoredAnalysis stored = made_heads();
  stored.summary.erase("maps");
  EXPECT_TRUE(atlas_of(stored)["maps"].empty());
}

TEST(HeadData, IsRefusedWithALineWhereItIsNotWhole) {
  const auto mistake = [](const std::function<void(Json&)>& change) {
    StoredAnalysis stored = made_heads();
    change(stored.summary);
    return mistake_of([&] { atlas_of(stored); });
  };
  EXPECT_EQ(mistake([](Json& s) { s["heads"].erase(3); }), "heads.json does not have every head");
  EXPECT_EQ(mistake([](Json& s) { s["heads"][3] = s["heads"][2]; }), "heads.json has a head twice");
  EXPECT_EQ(mistake([](Json& s) { s["heads"][0]["length"] = 9; }), "heads.json does not have every head");
  EXPECT_EQ(mistake([](Json& s) { s["heads"][0]["layer"] = 1000; }), "heads.json does not have every head");
  EXPECT_EQ(mistake([](Json& s) { s["heads"] = Json::array(); }), "heads.json has no heads");
  EXPECT_EQ(mistake([](Json& s) { s["heads"][0]["class"] = 3; }), "heads.json: 'class' must be a text");
  EXPECT_EQ(mistake([](Json& s) {
              s["heads"][0]["profile"] = {1, "x"};
            }),
            "heads.json: 'profile' must be a list of numbers");
  EXPECT_EQ(mistake([](Json& s) { s["maps"][0]["words"].erase(0); }), "heads.json: 'words' must be 4 texts");
  EXPECT_EQ(mistake([](Json& s) { s["maps"][0]["maps"].erase(0); }),
            "heads.json: 'maps' must be one map of every head");
  EXPECT_EQ(mistake([](Json& s) { s["maps"][0]["maps"][1] = "x"; }),
            "heads.json: 'maps' must be one map of every head");
  EXPECT_EQ(mistake([](Json& s) { s["maps"][0]["maps"][1][2] = "<script>"; }),
            "heads.json: 'maps' must be base64 of 3 x 3 bytes");
  EXPECT_EQ(mistake([](Json& s) { s["maps"][0]["side"] = 2; }), "heads.json: 'maps' must be base64 of 2 x 2 bytes");
}

TEST(HeadData, OfManyRunsTheFirstOfEachKindKeepTheirMaps) {
  HeadAtlas atlas;
  for (size_t run = 0; run < 30; ++run) atlas.add(run, made_heads(), run < 20 ? "often" : std::to_string(run));
  const Json entries = atlas.take();
  ASSERT_EQ(entries.size(), 30U);
  for (size_t run = 0; run < 30; ++run) {
    const bool kept = run < 2 || run >= 20;  // ten kinds, and the second of the one that has more
    EXPECT_EQ(entries[run]["maps"].size(), kept ? 2U : 0U) << run;
    EXPECT_EQ(entries[run].contains("thinned"), !kept) << run;
    EXPECT_EQ(entries[run]["groups"][0]["cells"][0].size(), kept ? 12U : 9U) << run;
  }
}

TEST(HeadData, OfADamagedFileThePageHasALineAndOfATextNoMarkup) {
  const TemporaryFolder folder;
  const auto write_heads = [&](const std::string& run, int64_t seed, const std::function<void(Json&)>& change) {
    make_run(folder / run, {.seed = seed});
    Json summary = made_heads().summary;
    change(summary);
    make_folder(folder / run / "analysis");
    write_file(folder / run / "analysis/heads.csv", "run\n");
    const Json file = {{"format", "lengthwise-analysis"},
                       {"version", 1},
                       {"weights", "best"},
                       {"trained_length", 8},
                       {"summary", summary}};
    write_file(folder / run / "analysis/heads.json", json_text(file));
  };
  write_heads("whole", 1, [](Json& s) {
    s["heads"][0]["class"] = "</script><script>";
    s["maps"][0]["words"][0] = "</script><script>";
  });
  write_heads("holes", 2, [](Json& s) { s["heads"].erase(0); });
  write_heads("cut", 3, [](Json&) {});
  write_file(folder / "cut/analysis/heads.json", "{\"format\": \"lengthwise-");
  write_report(folder.path());
  const std::string page = read_file(folder / "report.html");
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("The heads of holes cannot be shown: heads.json does not have every head"), 1U);
  EXPECT_EQ(count("cut/analysis/heads.json: not valid JSON"), 1U);
  EXPECT_EQ(count("<script"), 2U);
  EXPECT_EQ(count("\"trained\":8"), 1U) << "the one that is whole is shown";
}

}  // namespace
}  // namespace lengthwise
