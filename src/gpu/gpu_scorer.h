#pragma once
/// Teacher forcing on the GPU over batches that come from the host.
#include <string>

#include "gpu/decoder_passes.h"
#include "model/scorer.h"

namespace lengthwise {

class GpuScorer : public Scorer {
 public:
  /// On the thread's current stream. `mirror`: as for DecoderPasses; it is rounded anew before every batch.
  /// `head_rows`: as for DecoderPasses.
  GpuScorer(Decoder& decoder, at::Tensor mirror, bool tf32, int64_t head_rows = 0);
  /// With a mirror of its own. `precision`: fp32, tf32 or bf16.
  GpuScorer(Decoder& decoder, const std::string& precision, int64_t head_rows = 0);

  TargetScores score(const Batch& batch) override;
  int64_t token_budget() const override;
  const Placing* placing() const override { return &decoder_.placing(); }

 private:
  TargetScores run(const Batch& batch);

  Decoder& decoder_;
  at::Tensor mirror_;
  cudaStream_t stream_;
  DecoderPasses passes_;
};

/// The bfloat16 copy of the parameter arena that `precision` calls for, or an undefined tensor.
at::Tensor make_mirror(const Decoder& decoder, const std::string& precision);

}  // namespace lengthwise
