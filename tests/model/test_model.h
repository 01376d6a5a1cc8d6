#pragma once
/// Small models and batches for tests.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "batch/batch.h"
#include "core/rng.h"
#include "model/decoder.h"
#include "positional/registry.h"

namespace lengthwise::testing_model {

inline ModelConfig small_config(const std::string& encoding) {
  ModelConfig config;
  config.layers = 2;
  config.width = 32;
  config.heads = 2;
  config.head_dim = 16;
  config.ff_width = 48;
  config.dropout = 0;
  config.encoding = encoding;
  config.encoding_options.t5_buckets = 8;
  config.encoding_options.t5_max_distance = 16;
  config.score_scale = "none";
  config.encoding_options.max_positions = 96;
  return resolve(config, 23);
}

/// Random sequences; the last `targets` inputs of each predict random tokens.
inline Batch random_batch(const std::vector<int64_t>& lengths, uint64_t seed, int64_t start = 0) {
  Rng rng = Rng(seed).stream("batch");
  std::vector<int64_t> tokens, offsets{0}, positions, rows, targets, target_offsets{0};
  Batch batch;
  for (const int64_t length : lengths) {
    for (int64_t t = 0; t < length; ++t) {
      if (t >= length / 2) {
        rows.push_back(static_cast<int64_t>(tokens.size()));
        targets.push_back(rng.between(0, 22));
      }
      tokens.push_back(rng.between(0, 22));
      positions.push_back(start + t);
    }
    offsets.push_back(static_cast<int64_t>(tokens.size()));
    target_offsets.push_back(static_cast<int64_t>(targets.size()));
    batch.longest = std::max(batch.longest, length);
  }
  batch.tokens = at::tensor(tokens, at::kLong);
  batch.offsets = at::tensor(offsets, at::kLong);
  batch.positions = at::tensor(positions, at::kLong);
  batch.loss_rows = at::tensor(rows, at::kLong);
  batch.targets = at::tensor(targets, at::kLong);
  batch.target_offsets = at::tensor(target_offsets, at::kLong);
  return batch;
}

/// Makes the parameters large enough that every part of the model matters.
inline void shake(Decoder& decoder) {
  at::NoGradGuard no_grad;
  for (Parameter& parameter : decoder.parameters().all()) {
    at::Tensor noise = at::empty(parameter.shape, at::kDouble);
    fill_normal(Rng(3).stream(parameter.name), 0.3, noise.data_ptr<double>(), noise.numel());
    parameter.value.add_(noise);
  }
}

}  // namespace lengthwise::testing_model
