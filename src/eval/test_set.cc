#include "eval/test_set.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "data/jsonl.h"
#include "data/stored_source.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// As many as data sets may have anywhere.
constexpr int64_t kMostExamples = 100'000'000;
constexpr int64_t kPerLength = 500;

/// The test examples of those lengths, the first `count` of each.
std::unique_ptr<ExampleSource> choose(std::unique_ptr<ExampleSource> source, const TestSetOptions& options,
                                      const std::string& name) {
  std::vector<int64_t> kept;
  std::map<int64_t, int64_t> of_length;
  LengthRange present{0, 0};
  Example example;
  for (int64_t i = 0; i < source->count(Split::test); ++i) {
    source->get(Split::test, i, example);
    present.low = i == 0 ? example.length : std::min<int64_t>(present.low, example.length);
    present.high = std::max<int64_t>(present.high, example.length);
    if (options.lengths && !options.lengths->contains(example.length)) continue;
    if (options.count && of_length[example.length]++ >= *options.count) continue;
    kept.push_back(i);
  }
  if (source->count(Split::test) == 0) fail("{} holds no test examples", name);
  if (kept.empty()) {
    fail("{} has no example of --lengths {}; its lengths are {}", name, to_text(*options.lengths), to_text(present));
  }
  return std::make_unique<SelectedSource>(std::move(source), std::vector<int64_t>{}, std::move(kept));
}

fs::path test_file(const fs::path& data) {
  if (!is_folder(data)) return data;
  if (!is_there(data / "test.jsonl")) fail("--data {}: there is no test.jsonl in it", shown(data));
  return data / "test.jsonl";
}

/// Every line is read and held against the vocabulary, so that a word the run does not know is found with its place.
std::unique_ptr<ExampleSource> read_examples(const fs::path& path, const Vocabulary& vocabulary) {
  StoredSource::Splits splits;
  std::vector<int32_t> unused;
  int64_t line = 0;
  read_jsonl(path, [&](const Example& example) {
    ++line;
    unused.clear();
    try {
      vocabulary.encode(example.prompt, unused);
      vocabulary.encode(example.target, unused);
    } catch (const UserError& error) {
      fail("{}:{}: {}", shown(path), line, error.what());
    }
    splits.test.add(example);
  });
  return std::make_unique<StoredSource>(std::move(splits));
}

bool is_drawn(const DataConfig& data) {
  return data.data.empty() && data.corpus.empty() && data.text.empty();
}

/// Examples of the run's own task, drawn.
DataConfig drawn(const DataConfig& data, const TestSetOptions& options) {
  DataConfig wanted = data;
  if (options.data_seed) wanted.data_seed = *options.data_seed;
  if (!options.lengths && !options.count) return wanted;
  if (options.lengths) wanted.test_lengths = options.lengths;
  const int64_t lengths = resolve(wanted).test_lengths->size();
  const int64_t count = options.count.value_or(kPerLength);
  if (count > kMostExamples / lengths) {
    fail("--count {} for {} lengths is too many; {} examples are the most", count, lengths, kMostExamples);
  }
  wanted.test_count = count * lengths;
  return wanted;
}

void check_positions(const LoadedRun& run, const TokenSet& set) {
  const std::optional<int64_t> limit = run.model->position_limit();
  run.model->placing().check(run.config.model.encoding, set);
  for (int64_t i = 0; limit && i < set.size(); ++i) {
    const auto tokens = static_cast<int64_t>(set.sequence(i).size()) - 1;
    if (tokens <= *limit) continue;
    fail("{} has {} positions, but an example of length {} has {} tokens; shorten --lengths", run.model->called(),
         *limit, set.length[static_cast<size_t>(i)], tokens);
  }
}

}  // namespace

TestSet make_test_set(const LoadedRun& run, const TestSetOptions& options) {
  if (options.count && *options.count < 1) fail("--count must be positive, not {}", *options.count);
  const DataConfig& own = run.config.data;
  const bool files = !options.data.empty() || !is_drawn(own);
  if (files && options.data_seed) fail("--data-seed is for drawn examples; these are read from files");
  std::unique_ptr<ExampleSource> source;
  if (!options.data.empty()) {
    const fs::path path = test_file(options.data);
    source = choose(read_examples(path, run.vocabulary), options, shown(path));
  } else if (files) {
    source = choose(make_source(resolve(own)), options, own.data.empty() ? own.corpus : own.data);
  } else {
    source = make_source(resolve(drawn(own, options)));
  }
  TestSet test{build_token_set(*source, Split::test, run.vocabulary, frame_of(own)), default_evaluation(resolve(own))};
  if (test.tokens.size() == 0) fail("the run's data have no examples of these lengths");
  check_positions(run, test.tokens);
  test.how.precision = run.config.precision;
  return test;
}

TrainedLengths::TrainedLengths(const fs::path& folder, const TrainConfig& config) : range_(config.data.train_lengths) {
  if (range_ || !is_there(folder / "eval.jsonl")) return;
  std::istringstream lines(read_file(folder / "eval.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const Json json = parse_json(line, shown(folder / "eval.jsonl"));
    const JsonObject row(json, shown(folder / "eval.jsonl"));
    const std::optional<int64_t> length = row.find_whole("length");
    if (length && row.text("split") == "validation") seen_.push_back(*length);
  }
  std::sort(seen_.begin(), seen_.end());
}

std::string TrainedLengths::say(int64_t length) const {
  if (!range_ && seen_.empty()) return "?";
  if (range_ ? range_->contains(length) : std::binary_search(seen_.begin(), seen_.end(), length)) return "yes";
  return length > (range_ ? range_->high : seen_.back()) ? "longer" : "no";
}

}  // namespace lengthwise
