#pragma once
/// How large the true share of right answers may be, given `correct` of `count`: draws from its posterior distribution
/// under Jeffreys' prior, Beta(correct + 1/2, count - correct + 1/2).
///
/// The 2.5th and 97.5th percentile of such draws are the ends of Jeffreys' interval, which holds the true share about
/// 95 times in 100 whatever it is (Brown, Cai and DasGupta 2001); at 0 and at `count` it has a width of about 2.5
/// examples, where a resample of the examples would always be the same. In the angle t with share = sin^2 t the prior
/// is even and the density is sin^(2 correct) t * cos^(2 wrong) t, smooth and one-humped at both ends too, so that a
/// small table of it inverts well.
#include <array>
#include <cstdint>
#include <unordered_map>

#include "core/rng.h"
#include "results/score.h"

namespace lengthwise {

class ShareSampler {
 public:
  /// 0 <= correct <= count, count > 0.
  explicit ShareSampler(const Tally& tally);

  double draw(Rng& rng) const;

 private:
  static constexpr size_t kParts = 40;

  double first_ = 0;  ///< angle where the table begins
  double step_ = 0;
  std::array<float, kParts + 1> cumulative_{};  ///< not normalized
};

/// Samplers by tally, each made once.
class ShareSamplers {
 public:
  const ShareSampler& of(const Tally& tally);

 private:
  struct Hash {
    size_t operator()(const Tally& tally) const {
      return mix64(static_cast<uint64_t>(tally.count) * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(tally.correct));
    }
  };
  struct Equal {
    bool operator()(const Tally& a, const Tally& b) const { return a.count == b.count && a.correct == b.correct; }
  };
  std::unordered_map<Tally, ShareSampler, Hash, Equal> samplers_;
};

}  // namespace lengthwise
