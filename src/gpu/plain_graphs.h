#pragma once
/// Gradients by the plain decoder on the GPU, whole steps captured into graphs, one for each room that a batch is laid
/// into (batch/room.h).
///
/// A step of plain operations on a small model is a thousand launches, most of them shorter than the launch: replayed,
/// it takes a fraction of the time. Large steps, and what cannot be captured, run piece by piece. Both are the same
/// operations on the same room, so that it does not matter for a step's bits which it was.
#include <map>
#include <memory>
#include <tuple>

#include "batch/room.h"
#include "gpu/replayed.h"
#include "model/decoder.h"
#include "train/plain_learner.h"

namespace lengthwise {

class PlainGraphs {
 public:
  /// The thread must have called use_own_gpu_stream.
  PlainGraphs(const Decoder& decoder, Arithmetic arithmetic);

  /// As PlainGradients::add.
  at::Tensor add(const Batch& batch, const StepDropout& dropout, double weight);

  int64_t graphs() const;        ///< captured so far
  int64_t not_captured() const;  ///< rooms whose step could not be captured

 private:
  /// One for each room: what a step reads and writes, always in the same place.
  struct Step {
    Batch batch;
    at::Tensor weights;   ///< [target]: 0 for filler
    StepDropout dropout;  ///< its seed is written before every step
    at::Tensor loss;
    Replayed run;
  };

  at::Tensor add_large(const Batch& batch, const StepDropout& dropout, double weight) const;
  void load(Step& step, const Batch& batch, const BatchRoom& room, const StepDropout& dropout, double weight) const;
  void run(Step& step);
  void launch(Step& step);

  const Decoder& decoder_;
  Arithmetic arithmetic_;
  cudaStream_t stream_;
  CapturedGraph::Pool pool_;  ///< steps follow each other: one's memory is the next one's
  std::map<std::tuple<int64_t, bool, BatchRoom>, Step> steps_;  ///< by phase of training, batch.from_zero and room
};

}  // namespace lengthwise
