#pragma once
/// Examples that stand in memory because they were read from files.
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/example_source.h"

namespace lengthwise {

/// A list of examples in one block of text.
class StoredExamples {
 public:
  void add(const Example& example);

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  int64_t length(int64_t index) const { return entries_[static_cast<size_t>(index)].length; }
  void get(int64_t index, Example& out) const;

  /// Keeps the examples of those lengths, then the first `count` of them. Having none of those lengths although there
  /// were examples, or fewer than `count`, is a UserError; `name` and the options say what was asked for.
  void choose(std::optional<LengthRange> lengths, const char* lengths_option, std::optional<int64_t> count,
              const char* count_option, const std::string& name);

  /// Keeps the examples of those places, in that order.
  void select(const std::vector<uint32_t>& places);

 private:
  struct Entry {
    size_t begin = 0;  ///< of the prompt in `text_`; the target follows it
    uint32_t prompt = 0;
    uint32_t target = 0;
    int32_t length = 0;
    uint32_t category = 0;
  };

  std::string text_;
  std::vector<Entry> entries_;
  std::vector<std::string> categories_;
  std::unordered_map<std::string, uint32_t> category_index_;
};

class StoredSource : public ExampleSource {
 public:
  struct Splits {
    StoredExamples train, validation, test;
  };

  explicit StoredSource(Splits splits) : splits_(std::move(splits)) {}

  int64_t count(Split split) const override { return of(split).size(); }
  void get(Split split, int64_t index, Example& out) const override { of(split).get(index, out); }

 private:
  const StoredExamples& of(Split split) const {
    return split == Split::train ? splits_.train : split == Split::validation ? splits_.validation : splits_.test;
  }

  Splits splits_;
};

/// The user's own data: train.jsonl, validation.jsonl and test.jsonl of `data.folder` (jsonl.h), all three required,
/// with at least one training example.
StoredSource::Splits read_data_folder(const ResolvedData& data);

/// The public PCFG SET files in `data.corpus`. Without files for validation, a tenth of the training lines, chosen with
/// the data seed, is for validation, as in the study.
StoredSource::Splits read_corpus(const ResolvedData& data);

}  // namespace lengthwise
