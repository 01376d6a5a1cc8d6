#pragma once
/// Pieces of one study, done in several folders or on several machines, laid together.
#include <filesystem>
#include <string>
#include <vector>

namespace lengthwise {

struct MergedStudy {
  size_t runs = 0;  ///< that the file asks for
  size_t finished = 0;
  size_t failed = 0;
};

/// Copies the runs of all pieces into `out`. Of a run that several pieces have the finished one counts, of two finished
/// ones, whose results must be equal, the one that has its weights, and of unfinished ones the one that is further.
/// Pieces stay as they are. What they have under replaced/, and runs that are not in the file, are not taken.
///
/// `out` does not exist (or is empty), and is then there whole or not at all; or it holds the same study, and gets what
/// it lacks: an unfinished run there that a piece has further is moved to its replaced/.
///
/// UserError when a piece is no study, or differs from the others in anything that decides a result: the file, an
/// option of a run, the results of a run; also when somebody works on it.
MergedStudy merge_studies(const std::vector<std::filesystem::path>& pieces, const std::filesystem::path& out);

}  // namespace lengthwise
