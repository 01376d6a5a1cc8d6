/// The data of a task never changes unnoticed: a hash of the tokens of its first 1000 training examples is compared
/// with tests/data/fingerprints.txt, whose lines are
///
///     TASK WORDING SCRATCHPAD HASH
///
/// After a change of the data that is meant, run this test once with LENGTHWISE_WRITE_FINGERPRINTS=1 in the environment
/// to write the file anew, and commit it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "core/files.h"
#include "core/text.h"
#include "data/data_set.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

const std::string kFile = LENGTHWISE_SOURCE_DIR "/tests/data/fingerprints.txt";

uint64_t fingerprint(const DataConfig& config) {
  const auto source = make_source(resolve(config));
  const TokenSet set =
      build_token_set(*source, Split::train, Vocabulary(*resolve(config).task, config.wording), frame_of(config), 1);
  EXPECT_EQ(set.size(), 1000);
  std::string bytes;
  for (const int32_t id : set.tokens) {
    // Little end first on every machine.
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(static_cast<uint32_t>(id) >> shift & 0xFF);
  }
  return stable_hash(bytes);
}

std::map<std::string, std::string> fingerprints() {
  std::map<std::string, std::string> lines;
  for (const auto& task : tasks()) {
    for (const Wording wording : {Wording::printed, Wording::released}) {
      for (const char* scratchpad : {"none", "full"}) {
        if (scratchpad != std::string("none") && !task->info().scratchpad) continue;
        DataConfig config;
        config.task = task->info().name;
        config.wording = wording;
        from_text(scratchpad, config.scratchpad);
        config.train_count = 1000;
        lines[fmt::format("{} {} {}", config.task, to_text(wording), scratchpad)] =
            fmt::format("{:016x}", fingerprint(config));
      }
    }
  }
  return lines;
}

TEST(Fingerprint, OfEveryTaskIsTheStoredOne) {
  const std::map<std::string, std::string> actual = fingerprints();
  if (std::getenv("LENGTHWISE_WRITE_FINGERPRINTS") != nullptr) {
    std::string text;
    for (const auto& [name, hash] : actual) text += name + " " + hash + "\n";
    write_file(kFile, text);
    GTEST_SKIP() << "wrote " << kFile;
  }
  std::map<std::string, std::string> stored;
  const std::string text = read_file(kFile);
  const std::vector<std::string_view> words = split_words(text);
  ASSERT_EQ(words.size() % 4, 0u);
  for (size_t i = 0; i < words.size(); i += 4) {
    stored[fmt::format("{} {} {}", words[i], words[i + 1], words[i + 2])] = words[i + 3];
  }
  for (const auto& [name, hash] : actual) {
    ASSERT_TRUE(stored.contains(name)) << "no line for '" << name << "' in " << kFile
                                       << "; the top of this test says how";
    EXPECT_EQ(hash, stored[name]) << name;
  }
  EXPECT_EQ(stored.size(), actual.size()) << kFile << " has lines for what does not exist";
}

}  // namespace
}  // namespace lengthwise
