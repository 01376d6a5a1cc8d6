#include "eval/execute_run.h"

#include "core/error.h"
#include "eval/device_choice.h"
#include "eval/engines.h"
#include "eval/run_origin.h"
#include "gpu/refusal.h"
#include "runtime/settings.h"
#include "train/trainer.h"

namespace lengthwise {
namespace {

std::unique_ptr<Decoder> begin(const PreparedRun& run) {
  set_threads(run.config.threads);
  std::unique_ptr<Decoder> decoder = make_decoder(run.config.model, run.config.seed, run.config.device);
  check_lengths(*decoder, *run.data, run.config.random_offset);
  return decoder;
}

std::vector<SelectionResult> work_in(const PreparedRun& run, Decoder& decoder, const RunFolder& folder,
                                     Progress& progress, const std::function<void(int64_t)>& after_step) {
  run.data->vocabulary.save(folder.file("vocabulary.json"));
  const double seconds = train(run.config, *run.data, decoder, folder, progress, after_step, make_learner);
  write_origin(folder, run.config.device, seconds);
  return evaluate_run(run.config, *run.data, decoder, folder, default_evaluation(run.resolved), progress);
}

}  // namespace

TrainConfig complete_config(const TrainConfig& config, int64_t vocabulary_size, std::string* note) {
  const ResolvedData data = resolve(config.data);
  TrainConfig full = config;
  full.model = resolve(config.model, vocabulary_size);
  const DeviceChoice choice =
      choose_device(config.device, device_here(config.device), gpu_refuses(full.model, config.batch_size));
  full.device = choice.device;
  if (note != nullptr) *note = choice.note;
  full.precision = precision_here(config.precision, full.device);
  full = resolve(full, vocabulary_size);
  full.data.train_lengths = data.train_lengths;
  full.data.test_lengths = data.test_lengths;
  full.data.train_count = data.train_count;
  full.data.validation_count = data.validation_count;
  full.data.test_count = data.test_count;
  return full;
}

PreparedRun prepare_run(const TrainConfig& config, std::shared_ptr<const DataSet> data) {
  PreparedRun run;
  run.resolved = resolve(config.data);
  run.data = data ? std::move(data)
                  : std::make_shared<const DataSet>(build_data_set(config.data, static_cast<int>(config.threads)));
  run.config = complete_config(config, run.data->vocabulary.size(), &run.device_note);
  return run;
}

std::vector<SelectionResult> execute_run(const PreparedRun& run, const std::filesystem::path& out, Progress& progress) {
  if (!run.device_note.empty()) progress.line(run.device_note);
  const std::unique_ptr<Decoder> decoder = begin(run);
  const RunFolder folder = RunFolder::open(out, run.config);
  if (weights_were_dropped(out))
    fail("{} is finished, and its weights were dropped; its accuracies are in {}", out.string(),
         folder.file("eval.jsonl").string());
  return work_in(run, *decoder, folder, progress, nullptr);
}

std::vector<SelectionResult> execute_run(const PreparedRun& run, const RunFolder& folder, Progress& progress,
                                         const std::function<void(int64_t)>& after_step) {
  const std::unique_ptr<Decoder> decoder = begin(run);
  return work_in(run, *decoder, folder, progress, after_step);
}

}  // namespace lengthwise
