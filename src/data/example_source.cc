#include "data/example_source.h"

#include "core/error.h"
#include "data/stored_source.h"
#include "data/task_source.h"

namespace lengthwise {

std::unique_ptr<ExampleSource> make_source(const ResolvedData& data) {
  if (!data.text.empty()) fail("a text has no examples with prompts and targets; it is for `train` and `study`");
  if (data.task == nullptr) return std::make_unique<StoredSource>(read_data_folder(data));
  if (!data.corpus.empty()) return std::make_unique<StoredSource>(read_corpus(data));
  return std::make_unique<TaskSource>(data);
}

int64_t SelectedSource::count(Split split) const {
  if (split == Split::train) return source_->count(split);
  return static_cast<int64_t>((split == Split::validation ? validation_ : test_).size());
}

void SelectedSource::get(Split split, int64_t index, Example& out) const {
  LENGTHWISE_CHECK(index >= 0 && index < count(split), "example {} of {}", index, count(split));
  if (split != Split::train) index = (split == Split::validation ? validation_ : test_)[static_cast<size_t>(index)];
  source_->get(split, index, out);
}

}  // namespace lengthwise
