#pragma once
/// The public PCFG SET files, for those who have them: the corpus the published numbers were trained on.
///
/// A folder with train.src, train.tgt, test.src, test.tgt and perhaps dev.src, dev.tgt. One example a line; line n of
/// the .src file is a source (`append A1 B2 , C3 D4`) and line n of the .tgt file its target.
#include <filesystem>
#include <vector>

#include "tasks/task.h"

namespace lengthwise {

struct PcfgCorpus {
  std::vector<Example> train;
  std::vector<Example> validation;  ///< the dev files; empty without them, and then train is to be cut
  std::vector<Example> test;
};

/// Reads the folder, every example in the order of the files. All or nothing: a missing or empty file, files of
/// different numbers of lines, a source that does not parse and a target that is not its value are UserErrors
/// (`FILE:LINE: reason` where there is a line).
PcfgCorpus read_pcfg_corpus(const std::filesystem::path& folder, Wording wording);

}  // namespace lengthwise
