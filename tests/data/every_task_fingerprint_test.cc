/// The data of a task never changes unnoticed: hashes of the tokens of its first 1000 training examples and of a test
/// set of 1000 are compared with tests/data/fingerprints.txt, whose lines are
///
///     TASK WORDING SCRATCHPAD HASH-OF-TRAINING HASH-OF-TEST
///
/// `tools/fingerprints TASK` writes the lines of a new task, or of one whose data were changed on purpose (which then
/// needs a data version, TaskInfo::data_version), and leaves all others alone.
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

/// From `TASK WORDING SCRATCHPAD` to the hashes.
using Lines = std::map<std::string, std::string>;

std::string hash_of(const TokenSet& set) {
  std::string bytes;
  for (const int32_t id : set.tokens) {
    // Little end first on every machine.
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(static_cast<uint32_t>(id) >> shift & 0xFF);
  }
  return fmt::format("{:016x}", stable_hash(bytes));
}

std::string hashes_of(const DataConfig& config) {
  const ResolvedData data = resolve(config);
  const auto source = make_source(data);
  const Vocabulary vocabulary(*data.task, config.wording);
  const auto hash = [&](Split split) {
    return hash_of(build_token_set(*source, split, vocabulary, frame_of(config), 1));
  };
  return hash(Split::train) + " " + hash(Split::test);
}

Lines lines_of(const Task& task) {
  Lines lines;
  for (const Wording wording : {Wording::printed, Wording::released}) {
    for (const char* scratchpad : {"none", "full"}) {
      if (scratchpad != std::string("none") && !task.info().scratchpad) continue;
      DataConfig config;
      config.task = task.info().name;
      config.wording = wording;
      from_text(scratchpad, config.scratchpad);
      config.train_count = 1000;
      config.test_count = 1000;
      lines[fmt::format("{} {} {}", config.task, to_text(wording), scratchpad)] = hashes_of(config);
    }
  }
  return lines;
}

Lines stored_lines() {
  Lines lines;
  const std::string text = read_file(kFile);
  const std::vector<std::string_view> words = split_words(text);
  EXPECT_EQ(words.size() % 5, 0u) << kFile;
  for (size_t i = 0; i + 4 < words.size(); i += 5) {
    lines[fmt::format("{} {} {}", words[i], words[i + 1], words[i + 2])] =
        fmt::format("{} {}", words[i + 3], words[i + 4]);
  }
  return lines;
}

/// What tools/fingerprints asks for.
void write_lines(const Task& task) {
  Lines lines = stored_lines();
  std::erase_if(lines, [&](const auto& line) { return line.first.starts_with(task.info().name + " "); });
  lines.merge(lines_of(task));
  std::string text;
  for (const auto& [name, hashes] : lines) text += name + " " + hashes + "\n";
  write_file(kFile, text);
}

TEST(TaskFingerprints, AreTheStoredOnes) {
  if (const char* name = std::getenv("LENGTHWISE_WRITE_FINGERPRINTS")) {
    write_lines(find_task(name));
    GTEST_SKIP() << "wrote the lines of " << name << " to " << kFile;
  }
  Lines stored = stored_lines();
  for (const auto& task : tasks()) {
    const std::string& name = task->info().name;
    for (const auto& [line, hashes] : lines_of(*task)) {
      const auto found = stored.extract(line);
      if (found.empty()) {
        ADD_FAILURE() << "no fingerprint of '" << line << "' yet; `tools/fingerprints " << name << "` writes it";
      } else {
        EXPECT_EQ(hashes, found.mapped()) << "the data of '" << line << "' have changed; if they were meant to, "
                                          << "`tools/fingerprints " << name << "` writes the new ones";
      }
    }
  }
  for (const auto& [line, hashes] : stored)
    ADD_FAILURE() << kFile << " has '" << line << "', and there is no such task";
}

}  // namespace
}  // namespace lengthwise
