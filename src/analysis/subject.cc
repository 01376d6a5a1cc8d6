#include "analysis/subject.h"

#include "core/error.h"
#include "core/files.h"
#include "data/example_source.h"
#include "eval/engines.h"

namespace lengthwise {
namespace {

/// Files say it only by their examples.
int64_t longest_trained(const DataConfig& data) {
  const ResolvedData resolved = resolve(data);
  if (!resolved.text.empty()) return resolved.context;
  if (resolved.train_lengths) return resolved.train_lengths->high;
  const std::unique_ptr<ExampleSource> source = make_source(resolved);
  int64_t longest = 0;
  Example example;
  for (int64_t i = 0; i < source->count(Split::train); ++i) {
    source->get(Split::train, i, example);
    longest = std::max(longest, example.length);
  }
  return longest;
}

}  // namespace

Subject load_subject(const std::filesystem::path& folder, const std::string& weights, const std::string& device) {
  Subject subject{folder, "", weights, load_run(folder, weights, device, "fp32"), 0};
  const std::filesystem::path absolute = absolute_path(folder).lexically_normal();
  subject.name = (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
  subject.trained_length = longest_trained(subject.run.config.data);
  return subject;
}

const Decoder& Subject::decoder() const {
  const Decoder* decoder = as_decoder(*run.model);
  if (decoder == nullptr) {
    fail(
        "{} is a run of the architecture {}, which has no attention to look at; `lengthwise probe` looks at its states",
        shown(folder), run.config.model.architecture);
  }
  return *decoder;
}

std::unique_ptr<Model> untrained_twin(const Subject& subject) {
  auto twin = make_model(subject.run.config.model, subject.run.config.seed, subject.run.config.device);
  twin->know(subject.model().placing().glossary);
  return twin;
}

}  // namespace lengthwise
