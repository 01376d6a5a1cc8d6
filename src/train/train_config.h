#pragma once
/// How a model is trained. Defaults of `base` are the paper's (section 5 of its protocol).
///
/// A run that was saved before an option existed is read with that option's default. So the default of a new option is
/// what runs before it had, and not a mark that stands for a preset's number.
#include <cstdint>
#include <string>
#include <string_view>

#include "data/data_config.h"
#include "model/model_config.h"

namespace lengthwise {

struct TrainConfig {
  DataConfig data;
  ModelConfig model;
  int64_t seed = 1;
  int64_t steps = 0;
  int64_t batch_size = 0;
  int64_t accumulate = 1;
  double lr = 0;
  double lr_end = 1e-7;
  double warmup = -1;
  double weight_decay = 0.05;
  double beta1 = 0.9;
  double beta2 = -1;
  double epsilon = 1e-8;
  double clip = 1.0;
  int64_t random_offset = 0;
  std::string start_from;
  std::string start_checksum;
  double start_noise = 0;
  int64_t validate_every = 0;
  double validation_portion = 0;
  int64_t watch_longer = 0;
  int64_t stride = 0;
  std::string measure_with;
  int64_t checkpoint_every = 0;
  std::string device = "auto";
  std::string precision;
  int64_t threads = 0;

  /// Everything that decides the result, in the order of the file.
  template <class Visitor>
  void visit(Visitor&& field) {
    data.visit(field);
    model.visit(field);
    field("seed", seed, "seed of initial weights, order of examples and dropout");
    field("steps", steps, "optimizer steps; 0: the preset's (tiny: 12,000; base: 40,000)");
    field("batch-size", batch_size, "sequences per step; 0: the preset's (64)");
    field("accumulate", accumulate,
          "parts that a step's batch is gone through in, one after the other, where it does not fit at once; the "
          "gradient is that of the whole batch");
    field("lr", lr, "peak learning rate; 0: the preset's (tiny: 0.005; base: 3e-5)");
    field("lr-end", lr_end, "learning rate at the last step");
    field("warmup", warmup, "share of the steps over which the rate rises; -1: the preset's (tiny: 0.4; base: 0.06)");
    field("weight-decay", weight_decay, "decoupled weight decay; relative-bias tables are exempt");
    field("beta1", beta1, "decay of the gradient's mean");
    field("beta2", beta2, "decay of the gradient's square; -1: the preset's (tiny: 0.95; base: 0.999)");
    field("epsilon", epsilon, "added to the root of the square");
    field("clip", clip, "largest norm of the gradient; 0: no clipping");
    field("random-offset", random_offset,
          "train each sequence at a random start so that positions stay below this; 0: start at 0");
    field("start-from", start_from,
          "begin with these weights: a run (its best), or a .safetensors file; tokens are matched by their text, and "
          "what does not fit begins as in any run; empty: random weights");
    field("start-checksum", start_checksum, "what those weights must be; by default whatever is there, and recorded");
    field("start-noise", start_noise,
          "disturb those weights: normal numbers of the seed, times this, times the root mean square of each tensor");
    field("validate-every", validate_every,
          "steps between validations; 0: the preset's (tiny: every 2,000 of 12,000; base: every 2,000 of 40,000)");
    field("validation-portion", validation_portion,
          "share of the validation set used; 0: the preset's (tiny: 1; base: 0.5)");
    field("watch-longer", watch_longer,
          "examples of the test set that are scored at every validation too, to see longer lengths in the course of "
          "training; nothing is chosen by them");
    field(
        "stride", stride,
        "with --text: measure the test text by a sliding window as well, which begins every so many tokens and scores "
        "what is new; 0: by windows without overlap alone");
    field(
        "measure-with", measure_with,
        "measure with these encodings as well after training, separated by commas, as 'yarn(factor=4)' for a run with "
        "rope; what they learn must be among the run's weights");
    field("checkpoint-every", checkpoint_every,
          "steps between checkpoints; 0: at every validation. Of large models some are left out, so that writing takes "
          "a tenth of the time at most");
    field("device", device, "cpu, cuda, or auto: a GPU where there is one");
    field("precision", precision,
          "operands of matrix products: fp32, bf16 (sums, softmax, norms and updates stay fp32), tf32 (GPU only), or "
          "auto: bf16 where the device has it; by default fp32 on the CPU and bf16 on a GPU");
    field("threads", threads, "CPU threads; 0: all cores");
  }
};

/// Every 0 and empty value replaced by what it stands for; checked as a whole.
TrainConfig resolve(const TrainConfig& config, int64_t vocabulary_size);

/// Whether two runs that differ in this option are different runs. The number of threads changes speed and last bits,
/// what is watched, or measured in other ways as well, changes nothing: an interrupted run may go on with another. Of
/// the weights it began with the content counts (start-checksum), not where they lie.
bool decides_result(std::string_view option);

}  // namespace lengthwise
