#include "data/stored_source.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/files.h"
#include "data/jsonl.h"
#include "tasks/pcfg_corpus.h"

namespace lengthwise {
namespace {

StoredExamples store(const std::vector<Example>& examples) {
  StoredExamples stored;
  for (const Example& example : examples) stored.add(example);
  return stored;
}

}  // namespace

void StoredExamples::add(const Example& example) {
  const auto [at, is_new] = category_index_.try_emplace(example.category, static_cast<uint32_t>(categories_.size()));
  if (is_new) categories_.push_back(example.category);
  entries_.push_back({.begin = text_.size(),
                      .prompt = static_cast<uint32_t>(example.prompt.size()),
                      .target = static_cast<uint32_t>(example.target.size()),
                      .length = static_cast<int32_t>(example.length),
                      .category = at->second});
  text_ += example.prompt;
  text_ += example.target;
}

void StoredExamples::get(int64_t index, Example& out) const {
  LENGTHWISE_CHECK(index >= 0 && index < size(), "example {} of {}", index, size());
  const Entry& entry = entries_[static_cast<size_t>(index)];
  out.prompt.assign(text_, entry.begin, entry.prompt);
  out.target.assign(text_, entry.begin + entry.prompt, entry.target);
  out.length = entry.length;
  out.category = categories_[entry.category];
}

void StoredExamples::choose(std::optional<LengthRange> lengths, const char* lengths_option,
                            std::optional<int64_t> count, const char* count_option, const std::string& name) {
  if (lengths && !entries_.empty()) {
    const auto [least, most] = std::minmax_element(entries_.begin(), entries_.end(),
                                                   [](const Entry& a, const Entry& b) { return a.length < b.length; });
    const LengthRange present{least->length, most->length};
    std::erase_if(entries_, [&](const Entry& entry) { return !lengths->contains(entry.length); });
    if (entries_.empty()) {
      fail("{} has no example of --{} {}; its lengths are {}", name, lengths_option, to_text(*lengths),
           to_text(present));
    }
  }
  if (!count) return;
  if (*count > size()) {
    fail("{} has {} examples{}, fewer than --{} {}", name, size(),
         lengths ? fmt::format(" of --{} {}", lengths_option, to_text(*lengths)) : "", count_option, *count);
  }
  entries_.resize(static_cast<size_t>(*count));
}

void StoredExamples::select(const std::vector<uint32_t>& places) {
  std::vector<Entry> selected;
  selected.reserve(places.size());
  for (const uint32_t place : places) selected.push_back(entries_.at(place));
  entries_ = std::move(selected);
}

StoredSource::Splits read_data_folder(const ResolvedData& data) {
  if (!is_folder(data.folder)) fail("--data {} is not a folder", shown(data.folder));
  for (const char* name : {"train.jsonl", "validation.jsonl", "test.jsonl"}) {
    if (is_there(data.folder / name)) continue;
    fail("{} is missing; --data takes a folder with train.jsonl, validation.jsonl and test.jsonl",
         (data.folder / name).string());
  }
  const auto read = [&](const char* name) {
    StoredExamples examples;
    read_jsonl(data.folder / name, [&](const Example& example) { examples.add(example); });
    return examples;
  };
  StoredSource::Splits splits{read("train.jsonl"), read("validation.jsonl"), read("test.jsonl")};
  if (splits.train.size() == 0) fail("{} holds no example", (data.folder / "train.jsonl").string());
  splits.train.choose(data.train_lengths, "train-lengths", data.train_count, "train-count",
                      (data.folder / "train.jsonl").string());
  splits.validation.choose(data.train_lengths, "train-lengths", data.validation_count, "validation-count",
                           (data.folder / "validation.jsonl").string());
  splits.test.choose(data.test_lengths, "test-lengths", data.test_count, "test-count",
                     (data.folder / "test.jsonl").string());
  return splits;
}

StoredSource::Splits read_corpus(const ResolvedData& data) {
  const PcfgCorpus corpus = read_pcfg_corpus(data.corpus, data.style.wording);
  const bool cut = corpus.validation.empty();
  StoredSource::Splits splits{store(corpus.train), store(corpus.validation), store(corpus.test)};
  const std::string name = data.corpus.string();
  splits.train.choose(data.train_lengths, "train-lengths", std::nullopt, "", name + " (training)");
  if (cut) {
    const auto size = static_cast<size_t>(splits.train.size());
    std::vector<uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0u);
    Rng(data.seed).stream("pool order").shuffle(std::span(order));
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(size - size / 10);
    splits.validation = splits.train;
    splits.validation.select({middle, order.end()});
    splits.train.select({order.begin(), middle});
  } else {
    splits.validation.choose(data.train_lengths, "train-lengths", std::nullopt, "", name + " (validation)");
  }
  splits.train.choose(std::nullopt, "", data.train_count, "train-count", name + " (training)");
  splits.validation.choose(std::nullopt, "", data.validation_count, "validation-count", name + " (validation)");
  splits.test.choose(data.test_lengths, "test-lengths", data.test_count, "test-count", name + " (test)");
  return splits;
}

}  // namespace lengthwise
