#pragma once
/// A run for a try: does the command work, what does a run leave behind. It shows nothing about encodings.
#include "train/train_config.h"

namespace lengthwise {

inline constexpr int64_t kQuickSteps = 300;
inline constexpr int64_t kQuickValidations = 3;
inline constexpr int64_t kQuickTraining = 10'000;   ///< examples, at most
inline constexpr int64_t kQuickValidation = 250;    ///< examples
inline constexpr int64_t kQuickTestPerLength = 25;  ///< examples

/// The configuration with everything that takes time, and that it leaves open, made small. What is given stays.
/// Files of the user's own are used whole, since their first examples may be all of one length.
TrainConfig make_quick(const TrainConfig& config);

}  // namespace lengthwise
