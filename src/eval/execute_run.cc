#include "eval/execute_run.h"

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "data/fingerprint.h"
#include "data/task_source.h"
#include "eval/answered_examples.h"
#include "eval/engines.h"
#include "eval/more_measures.h"
#include "eval/run_origin.h"
#include "gpu/refusal.h"
#include "runtime/settings.h"
#include "train/start_from.h"
#include "train/trainable.h"
#include "train/trainer.h"

namespace lengthwise {
namespace {

void check_checksum(const TrainConfig& config, const StartingWeights& weights) {
  if (config.start_checksum.empty() || config.start_checksum == weights.checksum) return;
  fail("--start-from {}: these weights have the checksum {}, not --start-checksum {}", config.start_from,
       weights.checksum, excerpt(config.start_checksum));
}

/// A model ready for the first step.
struct Beginning {
  std::unique_ptr<Model> model;
  std::string line;  ///< what it begins with, if that is anything but the seed's numbers
};

/// The run as it goes on in a folder, where it may have begun.
PreparedRun as_begun(const PreparedRun& run, const std::filesystem::path& folder) {
  PreparedRun begun = run;
  adopt_trained(folder, begun.config.model);
  return begun;
}

Beginning begin(const PreparedRun& run) {
  set_threads(run.config.threads);
  Beginning beginning{make_model(run.config.model, run.config.seed, run.config.device), ""};
  beginning.model->know(std::make_shared<Glossary>(run.data->vocabulary, run.resolved.task));
  check_trainable(*beginning.model, run.config.data, *run.data, run.config.random_offset);
  check_readings(run.config, *run.data, *beginning.model);
  if (!run.config.start_from.empty()) {
    const StartingWeights weights = read_starting_weights(run.config.start_from);
    check_checksum(run.config, weights);
    beginning.line = start_from(weights, run.data->vocabulary, *beginning.model);
    if (run.config.start_noise > 0) {
      disturb(beginning.model->parameters(), run.config.start_noise, static_cast<uint64_t>(run.config.seed));
      beginning.line += fmt::format("; disturbed by {}", run.config.start_noise);
    }
  }
  return beginning;
}

std::vector<SelectionResult> work_in(const PreparedRun& run, const Beginning& beginning, const RunFolder& folder,
                                     Progress& progress, const std::function<void(int64_t)>& after_step) {
  Model& model = *beginning.model;
  folder.keep_data(run.fingerprint);
  folder.keep_trained(run.config.model);
  if (folder.finished()) {
    std::vector<SelectionResult> results = read_results(folder, model, longest_length(run.data->train));
    progress.line(fmt::format("{} is finished; these are its results", shown(folder.path())));
    return results;
  }
  run.data->vocabulary.save(folder.file("vocabulary.json"));
  if (!beginning.line.empty() && !folder.has_state()) progress.line(beginning.line);
  const double seconds = train(run.config, *run.data, model, folder, progress, after_step, make_learner);
  write_origin(folder, run.config.device, seconds);
  return evaluate_run(run.config, *run.data, model, folder, default_evaluation(run.resolved), progress);
}

}  // namespace

TrainConfig complete_config(const TrainConfig& config, int64_t vocabulary_size, std::string* note, int64_t longest) {
  const ResolvedData data = resolve(config.data);
  TrainConfig full = config;
  full.model = resolve(config.model, vocabulary_size);
  full.device = device_here(config.device);
  if (note != nullptr) *note = plain_note(full.device, gpu_refuses(full.model, config.batch_size, longest));
  full.precision = precision_of(full.model, config.precision, full.device);
  full = resolve(full, vocabulary_size);
  check_measures(full);
  if (config.start_from.empty() && !config.start_checksum.empty()) fail("--start-checksum goes with --start-from");
  if (config.start_from.empty() && config.start_noise != 0) fail("--start-noise goes with --start-from");
  if (!config.start_from.empty()) {
    const StartingWeights weights = read_starting_weights(config.start_from);
    check_checksum(config, weights);
    full.start_checksum = weights.checksum;
  }
  full.data.train_lengths = data.train_lengths;
  full.data.test_lengths = data.test_lengths;
  full.data.train_count = data.train_count;
  full.data.validation_count = data.validation_count;
  full.data.test_count = data.test_count;
  full.data.data_version = version_to_save(data);
  full.data.context = data.context;
  full.data.contexts = contexts_text(data.contexts);
  return full;
}

PreparedRun prepare_run(const TrainConfig& config, std::shared_ptr<const DataSet> data) {
  check_threads(config.threads);
  PreparedRun run;
  run.resolved = resolve(config.data);
  run.data = data ? std::move(data)
                  : std::make_shared<const DataSet>(build_data_set(config.data, static_cast<int>(config.threads)));
  run.config =
      complete_config(config, run.data->vocabulary.size(), &run.device_note, longest_sequence(run.data->train));
  run.config.model.trained_length = longest_sequence(run.data->train);
  run.config.model.trained_room = most_room(run.data->train);
  run.fingerprint = data_fingerprint(*run.data);
  return run;
}

std::vector<SelectionResult> execute_run(const PreparedRun& run, const std::filesystem::path& out, Progress& progress) {
  if (!run.device_note.empty()) progress.line(run.device_note);
  const PreparedRun begun = as_begun(run, out);
  const Beginning beginning = begin(begun);
  const RunFolder folder = RunFolder::open(out, begun.config);
  return work_in(begun, beginning, folder, progress, nullptr);
}

std::vector<SelectionResult> execute_run(const PreparedRun& run, const RunFolder& folder, Progress& progress,
                                         const std::function<void(int64_t)>& after_step) {
  const PreparedRun begun = as_begun(run, folder.path());
  return work_in(begun, begin(begun), folder, progress, after_step);
}

}  // namespace lengthwise
