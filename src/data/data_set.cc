#include "data/data_set.h"

#include "data/prompt_index.h"
#include "data/text_windows.h"

namespace lengthwise {

Vocabulary make_vocabulary(const ResolvedData& data, const ExampleSource& source) {
  if (data.task != nullptr) return Vocabulary(*data.task, data.style.wording);
  Vocabulary vocabulary;
  Example example;
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    for (int64_t i = 0; i < source.count(split); ++i) {
      source.get(split, i, example);
      vocabulary.add(example.prompt);
      vocabulary.add(example.target);
    }
  }
  return vocabulary;
}

int64_t vocabulary_size(const ResolvedData& data) {
  if (!data.text.empty()) return text_vocabulary(read_manifest(data.text)).size();
  if (data.task != nullptr) return Vocabulary(*data.task, data.style.wording).size();
  return make_vocabulary(data, *make_source(data)).size();
}

DataSet build_data_set(const DataConfig& config, int threads) {
  if (!config.text.empty()) return build_text_set(resolve(config));
  const std::unique_ptr<ExampleSource> source = make_source(resolve(config));
  return build_data_set(config, *source, threads);
}

DataSet build_data_set(const DataConfig& config, const ExampleSource& source, int threads) {
  DataSet set;
  set.vocabulary = make_vocabulary(resolve(config), source);
  set.frame = frame_of(config);
  set.train = build_token_set(source, Split::train, set.vocabulary, set.frame, threads);
  set.validation = build_token_set(source, Split::validation, set.vocabulary, set.frame, threads);
  set.test = build_token_set(source, Split::test, set.vocabulary, set.frame, threads);
  if (config.dedup) {
    const Unseen unseen = find_unseen(set);
    set.validation.keep_only(unseen.validation);
    set.test.keep_only(unseen.test);
  }
  return set;
}

Unseen find_unseen(const DataSet& set) {
  const PromptIndex training(set.train);
  return {without_known_prompts(set.validation, training), without_known_prompts(set.test, training)};
}

}  // namespace lengthwise
