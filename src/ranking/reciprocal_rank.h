#pragma once
/// Reciprocal ranks (section 6.3 of the study's protocol).
///
/// A query is one (split, seed) with one accuracy per encoding. The encodings are ranked 1, 2, ... from the highest
/// accuracy down; the reciprocal rank of an encoding is 1 / rank, and its mean reciprocal rank (MRR) is the plain mean
/// over queries. With n encodings chance gives (1 + 1/2 + ... + 1/n) / n: 0.457 for five.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

/// Which accuracies count as equal, and what becomes of equals.
struct Ties {
  bool by_row;    ///< of equals, the one that stands earlier in the published table is ahead
  double within;  ///< from the best down, whatever is at most this far below the best that has no rank yet ties it

  explicit constexpr Ties(bool rows = false, double closeness = 0) : by_row(rows), within(closeness) {}
  static constexpr Ties up_to(double within) { return Ties(false, within); }
  static const Ties kAverage;  ///< equals share the mean of the ranks they take: 1, 2.5, 2.5, 4
  static const Ties kPaper;    ///< no two ranks are equal
  bool operator==(const Ties&) const = default;
};
inline constexpr Ties Ties::kAverage{};
inline constexpr Ties Ties::kPaper{true};

/// The option of that name in every command that ranks.
inline constexpr const char* kTiesHelp =
    "average; paper: by the published row order; or a number: averaged, and accuracies at most so far below the best "
    "of them are ties too";

/// `average`, `paper`, or a number: averaged, with that as `within`.
std::string to_text(Ties ties);
void from_text(std::string_view text, Ties& ties);
/// As the end of a sentence about ranks: "ties averaged".
std::string describe(Ties ties);

/// The rank of each accuracy. `rows` are places in the published table (encoding_names.h), used with Ties::kPaper; of
/// equal places the earlier index is ahead.
std::vector<double> ranks_of(std::span<const double> accuracies, Ties ties, std::span<const int> rows);

/// The same many times without making room anew.
class Ranker {
 public:
  void rank(std::span<const double> accuracies, Ties ties, std::span<const int> rows, std::vector<double>& ranks);

 private:
  std::vector<size_t> order_;
};

/// (1 + 1/2 + ... + 1/n) / n.
double chance_reciprocal_rank(size_t encodings);

}  // namespace lengthwise
