#include "gpu/plain_graphs.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

#include "gpu/gated.h"
#include "gpu/gpu.h"
#include "gpu_kernels/dropout_mask.h"
#include "kernels/one_thread.h"
#include "model/plain_scorer.h"
#include "model/plain_targets.h"

namespace lengthwise {
namespace {

/// Tokens times width above which the operations of a step are large enough to hide that they are launched one by one;
/// a graph would only hold their memory.
constexpr int64_t kLargestCaptured = int64_t{1} << 22;

at::Tensor mask_by_kernel(double probability, const at::Tensor& seed, uint64_t place, int64_t rows, int64_t columns) {
  at::Tensor mask = at::empty({rows, columns}, seed.options().dtype(at::kFloat));
  gpu::DropoutArgs dropout(probability, static_cast<const uint64_t*>(seed.const_data_ptr()), 0, 0);
  dropout.place = place;
  if (!dropout.active()) return mask.fill_(1);
  gpu::dropout_mask(dropout, rows, columns, mask.data_ptr<float>(), c10::cuda::getCurrentCUDAStream().stream());
  return mask;
}

StepDropout written(const StepDropout& dropout, const at::Tensor& seed) {
  return {dropout.probability, std::nullopt, dropout.done, seed, mask_by_kernel};
}

at::Tensor seed_of(const StepDropout& dropout) {
  return at::full({1}, static_cast<int64_t>(dropout.seed.value_or(0)), at::kLong);
}

class GatedGraphs : public PlainGradients {
 public:
  GatedGraphs(const Decoder& decoder, Arithmetic arithmetic) : graphs_(decoder, arithmetic) {}

  at::Tensor add(const Batch& batch, const StepDropout& dropout, double weight) override {
    return graphs_->add(batch, dropout, weight);
  }

 private:
  Gated<PlainGraphs> graphs_;
};

}  // namespace

PlainGraphs::PlainGraphs(const Decoder& decoder, Arithmetic arithmetic)
    : decoder_(decoder),
      arithmetic_(arithmetic),
      stream_(c10::cuda::getCurrentCUDAStream().stream()),
      pool_(CapturedGraph::new_pool()) {}

at::Tensor PlainGraphs::add(const Batch& batch, const StepDropout& dropout, double weight) {
  const BatchRoom room = room_for(batch, decoder_.encoding().position_limit().value_or(0));
  if (room.tokens * decoder_.config().width > kLargestCaptured) return add_large(batch, dropout, weight);
  Step& step = steps_[{phase_of(decoder_.encoding(), dropout.done), batch.from_zero, room}];
  load(step, batch, room, dropout, weight);
  run(step);
  return step.loss;
}

at::Tensor PlainGraphs::add_large(const Batch& batch, const StepDropout& dropout, double weight) const {
  const std::shared_lock turn(device_gate());
  const OneThread one_thread;
  const at::Device device = decoder_.parameters().values().device();
  const TargetScores scores = plain_gradients(decoder_, on_device(batch, device),
                                              written(dropout, seed_of(dropout).to(device)), arithmetic_, weight);
  return scores.losses.sum() * weight;
}

int64_t PlainGraphs::graphs() const {
  return std::ranges::count_if(steps_, [](const auto& entry) { return entry.second.run.captured(); });
}

int64_t PlainGraphs::not_captured() const {
  return std::ranges::count_if(steps_, [](const auto& entry) { return !entry.second.run.capturable(); });
}

void PlainGraphs::load(Step& step, const Batch& batch, const BatchRoom& room, const StepDropout& dropout,
                       double weight) const {
  const Batch laid = in_room(batch, room);
  const at::Tensor& parameters = decoder_.parameters().values();
  at::Tensor weights = at::zeros({room.targets}, parameters.scalar_type());
  weights.narrow(0, 0, batch.target_count()).fill_(weight);
  const at::Tensor seed = seed_of(dropout);
  const std::shared_lock turn(device_gate());
  if (!step.weights.defined()) {
    step.batch = on_device(laid, parameters.device());
    step.weights = weights.to(parameters.device());
    step.dropout = written(dropout, seed.to(parameters.device()));
    step.loss = at::empty({}, step.weights.options());
    return;
  }
  step.batch.tokens.copy_(laid.tokens);
  step.batch.offsets.copy_(laid.offsets);
  step.batch.positions.copy_(laid.positions);
  for (size_t i = 0; i < laid.streams.size(); ++i) step.batch.streams[i].copy_(laid.streams[i]);
  step.batch.loss_rows.copy_(laid.loss_rows);
  step.batch.targets.copy_(laid.targets);
  step.weights.copy_(weights);
  step.dropout.written_seed.copy_(seed);
}

void PlainGraphs::run(Step& step) {
  if (step.run.ready(
          stream_, [&] { launch(step); }, pool_)) {
    return step.run.replay();
  }
  const std::shared_lock turn(device_gate());
  launch(step);
  step.run.was_launched();
}

void PlainGraphs::launch(Step& step) {
  const OneThread one_thread;
  const TargetScores scores = plain_gradients(decoder_, step.batch, step.dropout, arithmetic_, step.weights);
  step.loss.copy_((scores.losses * step.weights).sum());
}

std::unique_ptr<PlainGradients> make_captured_gradients(const Decoder& decoder, Arithmetic arithmetic) {
  return std::make_unique<GatedGraphs>(decoder, arithmetic);
}

}  // namespace lengthwise
