#pragma once
/// Teacher forcing on the GPU over batches that come from the host.
#include <optional>
#include <string>
#include <utility>

#include "gpu/decoder_passes.h"
#include "model/scorer.h"

namespace lengthwise {

class GpuScorer : public Scorer {
 public:
  /// On the thread's current stream. `mirror`: as for DecoderPasses; it is rounded anew before every pass.
  /// `head_rows`: as for DecoderPasses.
  GpuScorer(Decoder& decoder, at::Tensor mirror, bool tf32, int64_t head_rows = 0);
  /// With a mirror of its own. `precision`: fp32, tf32 or bf16.
  GpuScorer(Decoder& decoder, const std::string& precision, int64_t head_rows = 0);

  TargetScores score(const Batch& batch) override;
  int64_t token_budget() const override;
  const Placing* placing() const override { return &decoder_.placing(); }
  void begin_pass() override { in_pass_ = true; }
  void end_pass() override;

 private:
  TargetScores run(const Batch& batch);
  /// What the encoding states for places 0, 1, 2, ..., of the shape of the batch before where that was the same: biases
  /// of pairs of 16,384 places take several times as long to make as a batch takes to score.
  const EncodingValues& values_of(int64_t positions, int64_t distances);

  Decoder& decoder_;
  at::Tensor mirror_;
  cudaStream_t stream_;
  DecoderPasses passes_;
  bool in_pass_ = false;
  bool rounded_ = false;                             ///< the mirror, in this pass
  std::optional<EncodingValues> values_;             ///< kept in a pass
  std::pair<int64_t, int64_t> values_are_of_{0, 0};  ///< positions and distances
};

/// The bfloat16 copy of the parameter arena that `precision` calls for, or an undefined tensor.
at::Tensor make_mirror(const Decoder& decoder, const std::string& precision);

}  // namespace lengthwise
