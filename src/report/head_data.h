#pragma once
/// What `lengthwise heads` found, for the atlas of a report:
///
///     [{run, trained (length), weights, layers, heads,
///       groups: [{content, length, cells: [[class, positional, survives, entropy, distance, family, contested, slope,
///                r2, distances, profile, fitted], ...]}],
///       maps: [{length, side, tokens, words, cells: [base64, ...]}]}, ...]
///
/// Cells go by layers, then heads. A map's bytes are its rows, each up to the diagonal: what lies behind a query has no
/// weight. The page stays small: 12 runs at most have maps, profiles and fitted curves, the first of every split and
/// encoding before the second; the others have "thinned": true.
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/analysis_file.h"

namespace lengthwise {

inline constexpr size_t kMostMappedRuns = 12;
inline constexpr size_t kMostMapText = 24'000'000;  ///< characters of all maps together

class HeadAtlas {
 public:
  /// `alike` is the same for runs that differ in little. UserError where the summary is not that of heads.
  void add(size_t run, const StoredAnalysis& heads, const std::string& alike);
  bool empty() const { return entries_.empty(); }
  Json take();

 private:
  struct Entry {
    Json json;
    size_t turn = 0;      ///< how many alike came before
    size_t map_text = 0;  ///< 0: thinned
  };
  void thin();

  std::vector<Entry> entries_;
  std::map<std::string, size_t> turns_;
};

}  // namespace lengthwise
