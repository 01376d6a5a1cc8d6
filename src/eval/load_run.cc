#include "eval/load_run.h"

#include "core/error.h"
#include "core/files.h"
#include "eval/engines.h"
#include "eval/recorded_files.h"
#include "gpu/refusal.h"
#include "positional/part_names.h"
#include "runtime/settings.h"
#include "tasks/registry.h"
#include "train/checkpoint.h"
#include "train/run_folder.h"

namespace lengthwise {

namespace {

/// Files that do not belong together would be read past their ends.
void check_fit(const std::filesystem::path& folder, const std::filesystem::path& weights, LoadedRun& run) {
  const std::filesystem::path config = folder / "config.json";
  if (run.vocabulary.size() > run.config.model.vocab_rows) {
    fail("{} has {} tokens, but the model of {} has {} rows for them", shown(folder / "vocabulary.json"),
         run.vocabulary.size(), shown(config), run.config.model.vocab_rows);
  }
  try {
    run.config.model = resolve(run.config.model, run.vocabulary.size());
  } catch (const UserError& error) {
    fail("{} is damaged: {}", shown(config), error.what());
  }
  // Asked before memory is: a damaged size must not take all there is.
  const int64_t numbers = count_parameters(run.config.model);
  const int64_t bytes = file_bytes(weights);
  if (bytes / static_cast<int64_t>(sizeof(float)) < numbers) {
    fail("{} has {} bytes, too few for the {} parameters of the model that {} describes", shown(weights), bytes,
         numbers, shown(config));
  }
}

}  // namespace

LoadedRun load_run(const std::filesystem::path& folder, const std::string& selection, const std::string& device,
                   const std::string& precision, const std::string& encoding) {
  if (selection != "best" && selection != "last") fail("--weights must be best or last, not '{}'", selection);
  LoadedRun run;
  run.config = read_run_config(folder);
  run.config.data.data_version = run.config.data.data_version.value_or(1);  // as version_to_save leaves out
  run.vocabulary = Vocabulary::load(folder / "vocabulary.json");
  const std::filesystem::path weights = folder / (selection + ".safetensors");
  if (weights_were_dropped(folder)) {
    fail("{} was finished with --keep results, and its weights were dropped; its accuracies are in {}", shown(folder),
         shown(folder / "eval.jsonl"));
  }
  if (!is_there(weights)) fail("{} has no {} yet; train it first", shown(folder), weights.filename().string());
  check_recorded_files(folder, {"config.json", "vocabulary.json", weights.filename().string()});
  check_fit(folder, weights, run);
  const std::string trained = run.config.model.encoding;
  if (!encoding.empty()) {
    if (!run.config.model.is_decoder()) {
      fail("--encoding {}: {} is a run of the architecture {}, which has no positional encoding", encoding,
           shown(folder), run.config.model.architecture);
    }
    run.config.model.encoding = encoding;
    run.config.model = resolve(run.config.model, run.vocabulary.size());
  }
  run.config.device = device_here(device);
  run.device_note = plain_note(run.config.device, gpu_refuses(run.config.model));
  if (!precision.empty()) {
    run.config.precision = precision;
  } else if (run.config.device == "cpu" && run.config.precision != "fp32") {
    run.config.precision = "auto";
  }
  run.config.precision = precision_of(run.config.model, run.config.precision, run.config.device);
  run.model = make_model(run.config.model, std::nullopt, run.config.device);
  const Task* task = run.config.data.task.empty() ? nullptr : &find_task(run.config.data.task);
  run.model->know(std::make_shared<Glossary>(run.vocabulary, task));
  run.model->placing().check(run.config.model.encoding);
  if (encoding.empty()) {
    run.step = read_weights(weights, run.model->parameters());
  } else {
    run.step = read_weights_as(weights, run.model->parameters(), TrainedNames(run.config.model.encoding, trained));
  }
  return run;
}

}  // namespace lengthwise
