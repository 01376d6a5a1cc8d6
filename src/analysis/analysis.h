#pragma once
/// What trained models learned: each analysis reads run folders through model/inspect.h and leaves a tidy table and a
/// summary in them (analysis/output.h).
///
/// An analysis is one file with a class derived from `Analysis` and a `make_...` function, and one line in registry.cc.
/// Its command, help texts and errors follow from that line.
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/output.h"
#include "core/progress.h"

namespace lengthwise {

/// What every analysis can be told.
struct AnalysisOptions {
  std::string weights = "best";
  std::string lengths;
  int64_t sequences = 0;
  std::string content = "both";
  int64_t seed = 1;
  std::string device = "auto";
  int64_t threads = 0;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("weights", weights, "best or last");
    field("lengths", lengths,
          "lengths of the sequences, as 20,40,80; by default the longest of training, twice and four times it");
    field("sequences", sequences, "sequences of each length; 0: as many as the analysis needs");
    field(
        "content", content,
        "task: examples with their right answers; exchanged: tokens drawn at random, so that content tells nothing of "
        "position; or both");
    field("seed", seed, "of everything that the analysis draws");
    field("device", device, "cpu, cuda, or auto: a GPU where there is one");
    field("threads", threads, "CPU threads; 0: all cores");
  }
};

/// An option of one analysis alone: where its value is kept.
using OptionValue = std::variant<bool*, int64_t*, double*, std::string*>;
using VisitOption = std::function<void(const char* name, OptionValue value, const char* help)>;

class Analysis {
 public:
  virtual ~Analysis() = default;

  /// Options beside the common ones, with their defaults; as a configuration's `visit` (core/config.h).
  virtual void visit_options(const VisitOption&) {}

  /// Looks at the runs and hands over what it found, run by run. UserError for what the user got wrong.
  using Deliver = std::function<void(const AnalysisOutput&)>;
  virtual void measure(const std::vector<std::filesystem::path>& runs, const AnalysisOptions& options,
                       const Deliver& deliver, Progress& progress) = 0;
};

struct AnalysisEntry {
  const char* name;  ///< of the command and of the files it writes
  const char* summary;
  size_t least_runs;  ///< that have to be given
  std::unique_ptr<Analysis> (*make)();
};

/// The list.
std::span<const AnalysisEntry> analyses();

}  // namespace lengthwise
