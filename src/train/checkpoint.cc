#include "train/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

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
  from_text(found->second, value);
  return value;
}

void copy_into(const at::Tensor& to, const at::Tensor& from, const TensorFile& file, const std::string& name) {
  if (to.sizes() != from.sizes()) fail("{}: '{}' does not have the shape this run's model has", file.path, name);
  at::NoGradGuard no_grad;
  to.copy_(from);
}

}  // namespace

void write_state(const std::filesystem::path& path, const Parameters& parameters, const TrainState& state) {
  TensorFile file;
  file.tensors = {{"values", parameters.values()}, {"first_moment", state.first}, {"second_moment", state.second}};
  file.metadata = {{"format", "lengthwise-state"},
                   {"step", to_text(state.step)},
                   {"best_step", to_text(state.best_step)},
                   {"best_score", to_text(state.best_score)},
                   {"metrics_bytes", to_text(state.metrics_bytes)},
                   {"events_bytes", to_text(state.events_bytes)},
                   {"tokens", to_text(state.tokens)},
                   {"seconds", to_text(state.seconds)}};
  write_safetensors(path, file);
}

TrainState read_state(const std::filesystem::path& path, Parameters& parameters) {
  const TensorFile file = read_safetensors(path);
  TrainState state;
  state.step = number<int64_t>(file, "step");
  state.best_step = number<int64_t>(file, "best_step");
  state.best_score = number<int64_t>(file, "best_score");
  state.metrics_bytes = number<int64_t>(file, "metrics_bytes");
  state.events_bytes = number<int64_t>(file, "events_bytes");
  state.tokens = number<int64_t>(file, "tokens");
  state.seconds = number<double>(file, "seconds");
  state.first = at::empty_like(parameters.values());
  state.second = at::empty_like(parameters.values());
  copy_into(state.first, file.find("first_moment"), file, "first_moment");
  copy_into(state.second, file.find("second_moment"), file, "second_moment");
  copy_into(parameters.values(), file.find("values"), file, "values");
  return state;
}

void write_weights(const std::filesystem::path& path, const Parameters& parameters, int64_t step) {
  TensorFile file;
  file.metadata = {{"format", "lengthwise-weights"}, {"step", to_text(step)}};
  for (const Parameter& parameter : parameters.all()) file.tensors.emplace_back(parameter.name, parameter.value);
  write_safetensors(path, file);
}

int64_t read_weights(const std::filesystem::path& path, Parameters& parameters) {
  const TensorFile file = read_safetensors(path);
  for (const Parameter& parameter : parameters.all())
    copy_into(parameter.value, file.find(parameter.name), file, parameter.name);
  return number<int64_t>(file, "step");
}

}  // namespace lengthwise
