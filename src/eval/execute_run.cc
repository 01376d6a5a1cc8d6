#include "eval/execute_run.h"

#include "runtime/settings.h"
#include "train/trainer.h"

namespace lengthwise {

PreparedRun prepare_run(const TrainConfig& config) {
  PreparedRun run;
  TrainConfig here = config;
  here.precision = precision_here(config.precision);
  run.resolved = resolve(config.data);
  run.data = build_data_set(config.data, static_cast<int>(config.threads));
  run.config = resolve(here, run.data.vocabulary.size());
  run.config.data.train_lengths = run.resolved.train_lengths;
  run.config.data.test_lengths = run.resolved.test_lengths;
  run.config.data.train_count = run.resolved.train_count;
  run.config.data.validation_count = run.resolved.validation_count;
  run.config.data.test_count = run.resolved.test_count;
  return run;
}

std::vector<SelectionResult> execute_run(const PreparedRun& run, const std::filesystem::path& out, Progress& progress) {
  set_threads(run.config.threads);
  Decoder decoder(run.config.model, static_cast<uint64_t>(run.config.seed));
  check_lengths(decoder, run.data, run.config.random_offset);
  const RunFolder folder = RunFolder::open(out, run.config);
  run.data.vocabulary.save(folder.file("vocabulary.json"));
  train(run.config, run.data, decoder, folder, progress);
  return evaluate_run(run.config, run.data, decoder, folder, default_evaluation(run.resolved), progress);
}

}  // namespace lengthwise
