#pragma once
/// What the founding study (Kazemnejad et al., NeurIPS 2023) published, as far as it is known here: accuracies over all
/// longer lengths for 8 of its 17 splits, mean reciprocal ranks, and what it cost.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

struct PublishedAccuracy {
  double mean = 0;       ///< of three seeds
  double deviation = 0;  ///< 0: none was given, and the mean is .000

  /// Of a value in published deviations. Values have three decimals, so that no deviation counts as less than half of
  /// the last.
  double distance(double value) const;
};

/// The study's encodings under our names, in the order of its tables.
const std::vector<std::string>& published_encodings();

/// By our names of task and encoding.
std::optional<PublishedAccuracy> published_accuracy(std::string_view task, std::string_view encoding);

/// Over `category` (`primitive`, `reasoning`, `classic`), or overall for "".
std::optional<double> published_reciprocal_rank(std::string_view category, std::string_view encoding);

constexpr int kPublishedSeeds = 3;
constexpr int kPublishedRuns = 255;         ///< 17 splits, 5 encodings, 3 seeds
constexpr double kPublishedGpuHours = 460;  ///< of an A100, for all of them, about

}  // namespace lengthwise
