// How runs call their encodings, and how those of earlier versions are called.
#include <gtest/gtest.h>

#include "core/json.h"
#include "positional/registry.h"
#include "results/encoding_names.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

TEST(EncodingNotes, EarlierVersionsRunsAreCalledAsTheRegistryCallsThem) {
  for (const char* name : {"nope", "t5", "alibi", "rope", "sinusoidal", "learned", "alibi-learned", "transformer-xl"}) {
    const EncodingInfo& info = find_encoding(name).info;
    EXPECT_EQ(encoding_label(name), info.label);
    EXPECT_EQ(encoding_family(name), info.family);
  }
}

TEST(EncodingNotes, StandInEveryRunsConfiguration) {
  TrainConfig config;
  const auto note = [&](const std::string& encoding) {
    config.model.encoding = encoding;
    const Json json = parse_json(run_config_json(config), "config.json");
    return json["encoding_label"].get<std::string>() + ": " + json["encoding_family"].get<std::string>();
  };
  EXPECT_EQ(note("layers(rope,rope,nope)"), "RoPE ×2 / NoPE: modifier");
  EXPECT_EQ(note("ssmax+alibi"), "ALiBi + SSMax: bias");
  for (const EncodingEntry* entry : encodings()) {
    if (entry->least_parts > 0) continue;
    EXPECT_EQ(note(entry->info.name), entry->info.label + ": " + entry->info.family);
  }
}

}  // namespace
}  // namespace lengthwise
