#include "train/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "arena/safetensors.h"
#include "core/config.h"
#include "core/error.h"

namespace lengthwise {
namespace {

template <class T>
T number(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) fail("{} does not say its {}", file.path, key);
  T value{};
  try {
    from_text(found->second, value);
  } catch (const UserError& error) {
    fail("{} is damaged: its {}: {}", file.path, key, error.what());
  }
  return value;
}

void check_format(const TensorFile& file, const char* format) {
  const auto found = file.metadata.find("format");
  if (found == file.metadata.end() || found->second != format) fail("{} is not a file of {}", file.path, format);
}

void copy_into(const at::Tensor& to, const TensorFile& file, const std::string& name) {
  at::NoGradGuard no_grad;
  to.copy_(file.find_weights(name, to.sizes()));
}

void check_counts(const TrainState& state, const TensorFile& file) {
  const auto check = [&](bool good, const char* what, int64_t value) {
    if (!good) fail("{} is damaged: its {} cannot be {}", file.path, what, value);
  };
  constexpr int64_t kPerfect = 10'000;
  check(state.step >= 0, "step", state.step);
  check(state.validated >= 0 && state.validated <= state.step, "validated", state.validated);
  check(state.best_step >= -1 && state.best_step <= state.step, "best_step", state.best_step);
  check(state.best_score >= -1 && state.best_score <= kPerfect, "best_score", state.best_score);
  check(state.metrics_bytes >= 0, "metrics_bytes", state.metrics_bytes);
  check(state.events_bytes >= 0, "events_bytes", state.events_bytes);
  check(state.tokens >= 0, "tokens", state.tokens);
  if (!(state.seconds >= 0)) fail("{} is damaged: its seconds cannot be {}", file.path, state.seconds);
}

}  // namespace

bool all_finite(const at::Tensor& values) {
  if (values.numel() == 0) return true;
  at::NoGradGuard no_grad;
  // Both pass a value on that is no number, and need no memory beside the values.
  const auto [least, most] = at::aminmax(values.detach());
  return std::isfinite(least.item<double>()) && std::isfinite(most.item<double>());
}

void write_state(const std::filesystem::path& path, const Parameters& parameters, const TrainState& state) {
  TensorFile file;
  file.tensors = {{"values", parameters.values()}, {"first_moment", state.first}, {"second_moment", state.second}};
  file.metadata = {{"format", "lengthwise-state"},
                   {"step", to_text(state.step)},
                   {"validated", to_text(state.validated)},
                   {"best_step", to_text(state.best_step)},
                   {"best_score", to_text(state.best_score)},
                   {"metrics_bytes", to_text(state.metrics_bytes)},
                   {"metrics_checksum", state.metrics_checksum},
                   {"events_bytes", to_text(state.events_bytes)},
                   {"tokens", to_text(state.tokens)},
                   {"seconds", to_text(state.seconds)}};
  if (state.best_loss) file.metadata["best_loss"] = to_text(*state.best_loss);
  write_safetensors(path, file);
}

TrainState read_state(const std::filesystem::path& path, Parameters& parameters) {
  const TensorFile file = read_safetensors(path);
  check_format(file, "lengthwise-state");
  TrainState state;
  state.step = number<int64_t>(file, "step");
  // Checkpoints of earlier versions were never written before a validation that was due.
  state.validated = file.metadata.contains("validated") ? number<int64_t>(file, "validated") : state.step;
  state.best_step = number<int64_t>(file, "best_step");
  state.best_score = number<int64_t>(file, "best_score");
  if (file.metadata.contains("best_loss")) state.best_loss = number<double>(file, "best_loss");
  state.metrics_bytes = number<int64_t>(file, "metrics_bytes");
  if (const auto found = file.metadata.find("metrics_checksum"); found != file.metadata.end())
    state.metrics_checksum = found->second;
  state.events_bytes = number<int64_t>(file, "events_bytes");
  state.tokens = number<int64_t>(file, "tokens");
  state.seconds = number<double>(file, "seconds");
  check_counts(state, file);
  state.first = at::empty_like(parameters.values());
  state.second = at::empty_like(parameters.values());
  copy_into(state.first, file, "first_moment");
  copy_into(state.second, file, "second_moment");
  copy_into(parameters.values(), file, "values");
  return state;
}

void write_weights(const std::filesystem::path& path, const Parameters& parameters, int64_t step) {
  TensorFile file;
  file.metadata = {{"format", "lengthwise-weights"}, {"step", to_text(step)}};
  for (const Parameter& parameter : parameters.all()) file.tensors.emplace_back(parameter.name, parameter.value);
  write_safetensors(path, file);
}

namespace {

TensorFile open_weights(const std::filesystem::path& path) {
  TensorFile file = read_safetensors(path);
  check_format(file, "lengthwise-weights");
  return file;
}

int64_t take_weights(const TensorFile& file, Parameters& parameters, const NameInFile& name_in_file) {
  const auto step = number<int64_t>(file, "step");
  if (step < 0) fail("{} is damaged: its step cannot be {}", file.path, step);
  for (const Parameter& parameter : parameters.all()) copy_into(parameter.value, file, name_in_file(parameter.name));
  return step;
}

}  // namespace

int64_t read_weights(const std::filesystem::path& path, Parameters& parameters) {
  const TensorFile file = open_weights(path);
  if (file.tensors.size() > parameters.all().size()) {
    for (const auto& named : file.tensors) {
      const auto is_it = [&](const Parameter& parameter) { return parameter.name == named.first; };
      if (std::none_of(parameters.all().begin(), parameters.all().end(), is_it))
        fail("{} has a tensor '{}', which this run's model does not have", file.path, named.first);
    }
  }
  return take_weights(file, parameters, [](const std::string& name) { return name; });
}

int64_t read_weights_as(const std::filesystem::path& path, Parameters& parameters, const NameInFile& name_in_file) {
  return take_weights(open_weights(path), parameters, name_in_file);
}

}  // namespace lengthwise
