#include "eval/load_run.h"

#include "core/error.h"
#include "eval/device_choice.h"
#include "eval/engines.h"
#include "gpu/refusal.h"
#include "runtime/settings.h"
#include "train/checkpoint.h"
#include "train/run_folder.h"

namespace lengthwise {

LoadedRun load_run(const std::filesystem::path& folder, const std::string& selection, const std::string& device,
                   const std::string& precision) {
  if (selection != "best" && selection != "last") fail("--weights must be best or last, not '{}'", selection);
  LoadedRun run;
  run.config = read_run_config(folder);
  run.config.data.data_version = run.config.data.data_version.value_or(1);  // as version_to_save leaves out
  run.vocabulary = Vocabulary::load(folder / "vocabulary.json");
  const std::filesystem::path weights = folder / (selection + ".safetensors");
  if (weights_were_dropped(folder))
    fail("{} was finished with --keep results, and its weights were dropped; its accuracies are in {}", folder.string(),
         (folder / "eval.jsonl").string());
  if (!std::filesystem::exists(weights))
    fail("{} has no {} yet; train it first", folder.string(), weights.filename().string());
  const DeviceChoice choice = choose_device(device, device_here(device), gpu_refuses(run.config.model));
  run.config.device = choice.device;
  run.device_note = choice.note;
  if (!precision.empty()) {
    run.config.precision = precision;
  } else if (run.config.device == "cpu" && run.config.precision != "fp32") {
    run.config.precision = "auto";
  }
  run.config.precision = precision_here(run.config.precision, run.config.device);
  run.decoder = make_decoder(run.config.model, run.config.seed, run.config.device);
  run.step = read_weights(weights, run.decoder->parameters());
  return run;
}

}  // namespace lengthwise
