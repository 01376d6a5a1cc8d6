#include "study/keep.h"

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "study/done.h"
#include "study/study_folder.h"
#include "train/folder_lock.h"

namespace lengthwise {

std::string to_text(Keep keep) {
  return keep == Keep::all ? "all" : "results";
}

void from_text(std::string_view text, Keep& keep) {
  for (const Keep candidate : {Keep::all, Keep::results}) {
    if (text != to_text(candidate)) continue;
    keep = candidate;
    return;
  }
  fail("'{}' is neither all nor results{}", excerpt(text), did_you_mean(text, {"all", "results"}));
}

bool drop_weights(const std::filesystem::path& run) {
  bool dropped = false;
  for (const char* name : {"state.safetensors", "last.safetensors", "best.safetensors"}) {
    dropped = dropped || is_there(run / name);
    remove_path(run / name);
  }
  return dropped;
}

size_t drop_weights_of_finished(const std::filesystem::path& study, const StudyPlan& plan) {
  size_t count = 0;
  for (const StudyRun& run : plan.runs) {
    if (!run.selected || !is_finished(study, run)) continue;
    const std::optional<FolderLock> lock = FolderLock::try_lock(run_path(study, run));
    if (lock && drop_weights(run_path(study, run))) ++count;
  }
  return count;
}

}  // namespace lengthwise
