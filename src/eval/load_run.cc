#include "eval/load_run.h"

#include "core/error.h"
#include "train/checkpoint.h"
#include "train/run_folder.h"

namespace lengthwise {

LoadedRun load_run(const std::filesystem::path& folder, const std::string& selection) {
  if (selection != "best" && selection != "last") fail("--weights must be best or last, not '{}'", selection);
  LoadedRun run;
  run.config = read_run_config(folder);
  run.vocabulary = Vocabulary::load(folder / "vocabulary.json");
  const std::filesystem::path weights = folder / (selection + ".safetensors");
  if (!std::filesystem::exists(weights))
    fail("{} has no {} yet; train it first", folder.string(), weights.filename().string());
  run.decoder = std::make_unique<Decoder>(run.config.model, static_cast<uint64_t>(run.config.seed));
  run.step = read_weights(weights, run.decoder->parameters());
  return run;
}

}  // namespace lengthwise
