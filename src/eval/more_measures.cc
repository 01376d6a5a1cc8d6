#include "eval/more_measures.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <tuple>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "eval/engines.h"
#include "eval/run_results.h"
#include "eval/text_results.h"
#include "positional/part_names.h"
#include "train/trainable.h"

namespace lengthwise {
namespace {

const Parameter* find_parameter(const Decoder& decoder, const std::string& name) {
  for (const Parameter& parameter : decoder.parameters().all()) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

ModelConfig with_encoding(const TrainConfig& config, const std::string& encoding) {
  ModelConfig model = config.model;
  model.encoding = encoding;
  return resolve(model, model.vocab_rows);
}

/// The same weights under another encoding. UserError where one is missing.
std::unique_ptr<Decoder> read_with(const TrainConfig& config, const std::string& encoding, const Decoder& trained) {
  std::unique_ptr<Decoder> decoder = make_decoder(with_encoding(config, encoding), std::nullopt, config.device);
  const TrainedNames names(decoder->config().encoding, trained.config().encoding);
  const at::NoGradGuard no_grad;
  for (Parameter& parameter : decoder->parameters().all()) {
    const Parameter* there = find_parameter(trained, names(parameter.name));
    if (there == nullptr || there->value.sizes() != parameter.value.sizes()) {
      fail("--measure-with {}: it needs the weights '{}', which a run with {} does not train", excerpt(encoding),
           parameter.name, trained.encoding_info().name);
    }
    parameter.value.copy_(there->value);
  }
  decoder->know(trained.placing().glossary);
  return decoder;
}

}  // namespace

std::vector<std::string> listed_encodings(std::string_view text) {
  std::vector<std::string> names;
  if (trim(text).empty()) return names;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size()) depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (at < text.size() && (text[at] != ',' || depth > 0)) continue;
    names.emplace_back(trim(text.substr(begin, at - begin)));
    if (names.back().empty()) {
      fail("--measure-with '{}' names no encoding between two commas; yarn(factor=4),pi(factor=4) would be two",
           excerpt(text));
    }
    begin = at + 1;
  }
  return names;
}

void check_measures(const TrainConfig& config) {
  const std::vector<std::string> encodings = listed_encodings(config.measure_with);
  if (!encodings.empty() && !config.model.is_decoder()) {
    fail("--measure-with names encodings, which belong to the decoder; the architecture is {}",
         config.model.architecture);
  }
  if (config.data.text.empty()) {
    if (config.stride != 0) fail("--stride goes with --text");
  } else {
    const std::vector<int64_t> contexts = resolve(config.data).contexts;
    if (config.stride < 0 || config.stride > contexts.front()) {
      fail("--stride must be between 1 and the least of --contexts, {}, not {}", contexts.front(), config.stride);
    }
  }
  for (const std::string& encoding : encodings) with_encoding(config, encoding);
}

void check_readings(const TrainConfig& config, const DataSet& data, const Model& model) {
  for (const std::string& encoding : listed_encodings(config.measure_with)) {
    const std::unique_ptr<Decoder> other = read_with(config, encoding, *as_decoder(model));
    other->placing().check(other->encoding_info().name);
    const std::optional<int64_t> limit = other->encoding().position_limit();
    if (!limit) continue;
    const int64_t longest = data.text ? resolve(config.data).contexts.back() : longest_sequence(data.test);
    if (longest > *limit) {
      fail("--measure-with: the encoding {} has {} positions, but {} of {} tokens is to be measured",
           other->encoding_info().name, *limit, data.text ? "a context" : "a test example", longest);
    }
  }
}

std::string measure_readings(const TrainConfig& config, const DataSet& data, const Model& model,
                             std::span<const int64_t> validation, const EvaluationOptions& how, Progress& progress) {
  std::string text;
  for (const std::string& encoding : listed_encodings(config.measure_with)) {
    const std::unique_ptr<Decoder> other = read_with(config, encoding, *as_decoder(model));
    const std::unique_ptr<Scorer> scorer = make_scorer(*other, config.precision);
    EvaluationOptions options = how;
    options.subject = "read with " + other->config().encoding;
    const std::vector<int64_t> test = all_examples(data.test);
    for (const auto& [split, set, examples] :
         {std::tuple{"validation", &data.validation, validation}, std::tuple{"test", &data.test, std::span(test)}}) {
      const SetAccuracy result = evaluate(*other, *scorer, data.vocabulary, *set, examples, options, progress);
      for (const auto& [length, accuracy] : result.by_length) {
        Json row = {{"encoding", other->config().encoding}, {"encoding_label", other->encoding_info().label}};
        row.update(accuracy_row("best", split, length, "", accuracy));
        text += json_text(row) + "\n";
      }
    }
  }
  return text;
}

void measure_more(const TrainConfig& config, const DataSet& data, const Model& model, Scorer& scorer,
                  const std::filesystem::path& run, const ContextProtocol& protocol, Progress& progress) {
  const ResolvedData resolved = resolve(config.data);
  ContextOptions options{
      .contexts = resolved.contexts, .cross_documents = resolved.cross_documents, .tokens = resolved.test_tokens()};
  const auto measure = [&](Scorer& by, const ContextProtocol& how, int64_t stride, const std::string& subject) {
    options.stride = stride;
    record_contexts(run, how, measure_contexts(by, *data.text, data.vocabulary, options, subject, progress));
  };
  if (config.stride > 0) measure(scorer, protocol, config.stride, "sliding window");
  for (const std::string& encoding : listed_encodings(config.measure_with)) {
    const std::unique_ptr<Decoder> other = read_with(config, encoding, *as_decoder(model));
    const std::unique_ptr<Scorer> own = make_scorer(*other, config.precision);
    ContextProtocol how = protocol;
    how.encoding = other->config().encoding;
    how.encoding_label = other->encoding_info().label;
    measure(*own, how, 0, "read with " + how.encoding);
    if (config.stride > 0) measure(*own, how, config.stride, "read with " + how.encoding + ", sliding window");
  }
}

}  // namespace lengthwise
