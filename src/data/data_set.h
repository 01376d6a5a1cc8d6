#pragma once
/// Everything a model is trained and tested on: a vocabulary and the tokens of three splits.
#include "data/data_config.h"
#include "data/example_source.h"
#include "data/token_set.h"
#include "data/vocabulary.h"

namespace lengthwise {

struct PreparedText;

struct DataSet {
  Vocabulary vocabulary;
  Frame frame;
  TokenSet train;
  TokenSet validation;
  TokenSet test;                             ///< of a text: at the context of training
  std::shared_ptr<const PreparedText> text;  ///< where the examples are windows of it (text_windows.h); else null

  const TokenSet& of(Split split) const {
    return split == Split::train ? train : split == Split::validation ? validation : test;
  }
};

/// The task's vocabulary, or all words of the user's own data: training first, then validation, then test.
Vocabulary make_vocabulary(const ResolvedData& data, const ExampleSource& source);

/// How many tokens the vocabulary of these data has, with nothing drawn.
int64_t vocabulary_size(const ResolvedData& data);

/// Draws or reads (or takes the source that is there already), encodes and, with `dedup`, drops validation and test
/// examples whose prompt stands in training. The result does not depend on the number of threads (0: one per core).
DataSet build_data_set(const DataConfig& config, int threads = 0);

DataSet build_data_set(const DataConfig& config, const ExampleSource& source, int threads);

/// Which examples of validation and test have a prompt that does not stand in training.
struct Unseen {
  std::vector<int64_t> validation;  ///< ascending
  std::vector<int64_t> test;
};
Unseen find_unseen(const DataSet& set);

}  // namespace lengthwise
