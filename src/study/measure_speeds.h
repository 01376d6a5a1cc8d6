#pragma once
/// How fast one kind of run is here, by a few real steps of it.
#include <cstdint>
#include <memory>

#include "core/json.h"
#include "model/model.h"
#include "train/train_config.h"

namespace lengthwise {

/// Seconds per unit of each kind of work.
struct Speeds {
  double step = 0;          ///< per step of training
  double forward = 0;       ///< per token
  double generation = 0;    ///< per example
  double train_tokens = 0;  ///< per example
  double validation_tokens = 0;
  double test_tokens = 0;
  int64_t validation_size = 0;  ///< of files, which have the examples they have; 0: drawn
  int64_t test_size = 0;
};

/// Whether the data are drawn, so that there are as many examples as the configuration says.
bool is_drawn(const DataConfig& data);

/// With enough examples to know how long they are.
TrainConfig with_few_examples(const TrainConfig& config);

/// Measures one kind of run after the other in one thread. A large model takes seconds to make, and many kinds share
/// one.
class Bench {
 public:
  Speeds measure(const TrainConfig& config, int64_t threads);

 private:
  Json model_;
  std::unique_ptr<Model> network_;
};

}  // namespace lengthwise
