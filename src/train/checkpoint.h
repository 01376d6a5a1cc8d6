#pragma once
/// What a run needs to go on exactly where it was, in one file, so that it is whole or as it was.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "arena/parameters.h"

namespace lengthwise {

struct TrainState {
  int64_t step = 0;                 ///< steps done
  int64_t validated = 0;            ///< the last of them after which validation was done; less than due: it was cut off
  int64_t best_step = -1;           ///< of best.safetensors; -1: none yet
  int64_t best_score = -1;          ///< validation exact match in ten-thousandths, as the study rounds it
  std::optional<double> best_loss;  ///< of the validation, where it is what the best weights are chosen by (a text)
  int64_t metrics_bytes = 0;        ///< of metrics.jsonl that belong to the steps done
  std::string metrics_checksum;     ///< of those bytes; "": not known
  int64_t events_bytes = 0;         ///< of the TensorBoard file
  int64_t tokens = 0;               ///< trained on so far
  double seconds = 0;               ///< spent on training so far
  at::Tensor first, second;         ///< AdamW's moments, laid out like the parameter arena
};

void write_state(const std::filesystem::path& path, const Parameters& parameters, const TrainState& state);
/// Overwrites the parameters' values. UserError that names the file for numbers that no run can have: counts out of
/// their order, values that are not finite, other types or shapes than the model's.
TrainState read_state(const std::filesystem::path& path, Parameters& parameters);

/// The named weights alone.
void write_weights(const std::filesystem::path& path, const Parameters& parameters, int64_t step);
/// Names, types and shapes must be the model's, and every value finite. Gives the step they were saved at.
int64_t read_weights(const std::filesystem::path& path, Parameters& parameters);

/// What a tensor is called in the file, by what the model calls it.
using NameInFile = std::function<std::string(const std::string&)>;
/// The same under other names; tensors that the model does not have are left out.
int64_t read_weights_as(const std::filesystem::path& path, Parameters& parameters, const NameInFile& name_in_file);

/// Whether every value is a finite number; true of an empty tensor.
bool all_finite(const at::Tensor& values);

}  // namespace lengthwise
