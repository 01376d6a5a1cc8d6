// How a training step grows: throughput when the share of short sequences grows, and memory when sequences do.
//
// Prints one JSON object a line. All batches have about the same number of tokens.
#include <ATen/ATen.h>
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "model/cpu_engine.h"

namespace lengthwise {
namespace {

Batch batch_of(const std::vector<int64_t>& lengths, int64_t vocabulary) {
  Rng rng = Rng(1).stream("bench");
  std::vector<int64_t> tokens, offsets{0}, positions, rows, targets;
  Batch batch;
  for (const int64_t length : lengths) {
    for (int64_t t = 0; t < length; ++t) {
      if (2 * t >= length) {
        rows.push_back(static_cast<int64_t>(tokens.size()));
        targets.push_back(rng.between(0, vocabulary - 1));
      }
      tokens.push_back(rng.between(0, vocabulary - 1));
      positions.push_back(t);
    }
    offsets.push_back(static_cast<int64_t>(tokens.size()));
    batch.longest = std::max(batch.longest, length);
  }
  batch.tokens = at::tensor(tokens, at::kLong);
  batch.offsets = at::tensor(offsets, at::kLong);
  batch.positions = at::tensor(positions, at::kLong);
  batch.loss_rows = at::tensor(rows, at::kLong);
  batch.targets = at::tensor(targets, at::kLong);
  return batch;
}

/// Largest resident memory of the process so far, in MiB.
double peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void print(const std::string& name, double figure, const std::string& unit, const std::string& better) {
  std::cout << nlohmann::ordered_json{{"name", name}, {"figure", figure}, {"unit", unit}, {"better", better}}
            << std::endl;
}

double tokens_per_second(CpuEngine& engine, const Batch& batch) {
  const double weight = 1.0 / static_cast<double>(batch.target_count());
  engine.accumulate_gradients(batch, {}, weight);
  const auto start = std::chrono::steady_clock::now();
  int64_t steps = 0;
  double seconds = 0;
  while (seconds < 1.0) {
    engine.accumulate_gradients(batch, {}, weight);
    ++steps;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return static_cast<double>(steps * batch.token_count()) / seconds;
}

void run() {
  ModelConfig config;
  config.layers = 4;
  config.width = 128;
  config.heads = 4;
  config.dropout = 0;
  config.encoding = "t5";
  Decoder decoder(resolve(config, 64), 1);
  CpuEngine engine(decoder);
  for (const int64_t shorts : {0, 50, 90}) {
    std::vector<int64_t> lengths;
    int64_t left = 1536;
    for (int64_t i = 0; left > 0; ++i) {
      const int64_t length = std::min<int64_t>(left, i % 10 < shorts / 10 ? 6 : 24);
      lengths.push_back(length);
      left -= length;
    }
    print("training, 1,536 tokens, " + std::to_string(shorts) + " % of the sequences short",
          tokens_per_second(engine, batch_of(lengths, 64)), "real tokens/s", "higher");
  }
  // Linear memory: the same 4,096 tokens in ever longer sequences must not need more.
  for (const int64_t length : {64, 256, 1024, 4096}) {
    const Batch batch = batch_of(std::vector<int64_t>(static_cast<size_t>(4096 / length), length), 64);
    const double speed = tokens_per_second(engine, batch);
    print("training, 4,096 tokens in sequences of " + std::to_string(length), speed, "real tokens/s", "higher");
    print("peak memory after sequences of " + std::to_string(length), peak_memory(), "MiB", "lower");
  }
}

}  // namespace
}  // namespace lengthwise

int main() {
  lengthwise::run();
}
