/// Runs the fuzz target without libFuzzer:
///
///     fuzz_text [--inputs N | --seconds S] [--seed K] [--save FILE]    damaged inputs, counted from 0
///     fuzz_text FILE...                                                inputs that were saved
///
/// Exits with 1 at the first finding: an exception other than UserError, a broken promise of the target, or an input
/// that takes longer than ten seconds of this process's time. A crash ends the program; --save keeps the input at hand
/// in a file, so that it is there afterwards.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

#include "core/config.h"
#include "core/error.h"
#include "core/files.h"
#include "fuzz/fuzz_text.h"
#include "fuzz/mutator.h"

namespace lengthwise::fuzz {
namespace {

struct Options {
  std::optional<int64_t> inputs;
  std::optional<double> seconds;
  int64_t seed = 1;
  std::string save;
  std::vector<std::string> files;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (!name.starts_with("--")) {
      options.files.push_back(name);
      continue;
    }
    if (i + 1 == argc) fail("{} needs a value", name);
    const std::string value = argv[++i];
    if (name == "--inputs") {
      from_text(value, options.inputs);
    } else if (name == "--seconds") {
      from_text(value, options.seconds);
    } else if (name == "--seed") {
      from_text(value, options.seed);
    } else if (name == "--save") {
      options.save = value;
    } else {
      fail("there is no option {}; there are --inputs, --seconds, --seed and --save", name);
    }
  }
  return options;
}

/// Keeps the input at hand in a file, whatever becomes of this process.
class Saver {
 public:
  explicit Saver(const std::string& path) {
    if (path.empty()) return;
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("cannot write {}", path);
  }
  ~Saver() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  void save(const std::string& input) const {
    if (descriptor_ < 0) return;
    const auto size = static_cast<ssize_t>(input.size());
    if (::pwrite(descriptor_, input.data(), input.size(), 0) != size || ::ftruncate(descriptor_, size) != 0) {
      fail("cannot save the input");
    }
  }

 private:
  int descriptor_ = -1;
};

/// What was found, or "".
std::string run_one(const std::string& input) {
  constexpr double kLongest = 10;
  const std::clock_t start = std::clock();
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  } catch (const std::exception& error) {
    return error.what();
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return seconds > kLongest ? fmt::format("took {:.1f} s", seconds) : "";
}

int run_files(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const std::string found = run_one(read_file(file));
    std::cout << file << ": " << (found.empty() ? "nothing found" : found) << '\n';
    if (!found.empty()) return 1;
  }
  return 0;
}

int run(const Options& options) {
  if (!options.files.empty()) return run_files(options.files);
  const Mutator mutator(static_cast<uint64_t>(options.seed));
  const Saver saver(options.save);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const double limit = options.seconds.value_or(options.inputs ? 1e18 : 10);
  const int64_t inputs = options.inputs.value_or(INT64_MAX);
  int64_t done = 0;
  std::string found;
  for (; done < inputs && found.empty(); ++done) {
    if (done % 256 == 0 && elapsed() >= limit) break;
    const std::string input = mutator.input(static_cast<uint64_t>(done));
    saver.save(input);
    found = run_one(input);
    if (!found.empty()) {
      std::cout << fmt::format("found at input {} of seed {}: {}\n", done, options.seed, found);
      std::cout << (options.save.empty() ? "run again with --save FILE to keep it" : "it is in " + options.save)
                << '\n';
    }
  }
  std::cout << fmt::format("{} inputs in {:.1f} s, {:.0f} a second, {}\n", done, elapsed(),
                           static_cast<double>(done) / std::max(1e-9, elapsed()),
                           found.empty() ? "nothing found" : "one finding");
  return found.empty() ? 0 : 1;
}

}  // namespace
}  // namespace lengthwise::fuzz

int main(int argc, char** argv) {
  try {
    return lengthwise::fuzz::run(lengthwise::fuzz::parse(argc, argv));
  } catch (const lengthwise::UserError& error) {
    std::cerr << "fuzz_text: " << error.what() << '\n';
    return 2;
  }
}
