#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>

#include <map>

#include "batch/assemble.h"
#include "core/error.h"
#include "gpu/buckets.h"
#include "gpu/device_examples.h"
#include "gpu/gated.h"
#include "gpu/gpu.h"
#include "gpu/gpu_scorer.h"
#include "gpu/out_of_memory.h"
#include "gpu/replayed.h"
#include "gpu_kernels/optimizer.h"
#include "gpu_kernels/parts.h"
#include "gpu_kernels/split_values.h"
#include "train/step_inputs.h"

namespace lengthwise {
namespace {

class GpuLearner {
 public:
  GpuLearner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder, TrainState& state,
             int64_t head_rows)
      : config_(config),
        examples_(examples),
        decoder_(decoder),
        stream_(c10::cuda::getCurrentCUDAStream().stream()),
        order_(examples.size(), config.batch_size, static_cast<uint64_t>(config.seed)),
        device_(examples, order_),
        mirror_(make_mirror(decoder, config.precision)),
        passes_(decoder, mirror_, config.precision == "tf32", /*training=*/true, stream_, head_rows),
        scorer_(decoder, mirror_, config.precision == "tf32", head_rows),
        rng_(static_cast<uint64_t>(config.seed)) {
    LENGTHWISE_CHECK(stream_ != nullptr, "a learner on the GPU needs a stream of its own");
    sums_ = at::zeros({gpu::kNormBlocks}, at::TensorOptions(at::kCUDA).dtype(at::kDouble));
    prepare_optimizer(state);
    gpu::StepState start;
    start.step = state.step;
    start.tokens_seen = state.tokens;
    gpu::check_cuda(cudaMemcpyAsync(passes_.state(), &start, sizeof(start), cudaMemcpyHostToDevice, stream_), "start");
    gpu::check_cuda(cudaStreamSynchronize(stream_), "start");
  }
  GpuLearner(const GpuLearner&) = delete;
  GpuLearner& operator=(const GpuLearner&) = delete;

  int64_t step(int64_t step) {
    device_.load_orders(order_, step);
    step_ = step;
    done_ = static_cast<double>(step) / static_cast<double>(config_.steps);
    const std::span<const int64_t> examples = order_.examples_of(step);
    int64_t tokens = 0;
    for (int64_t part = 0; part < config_.accumulate; ++part) {
      const BatchPart own = batch_part(std::ssize(examples), part, config_.accumulate);
      tokens += pass(examples.subspan(static_cast<size_t>(own.first), static_cast<size_t>(own.count)));
    }
    if (in_parts()) {
      const std::shared_lock gate(device_gate());
      gpu::optimizer_step(optimizer_, stream_);
    }
    return tokens;
  }

  StepMetrics metrics() {
    gpu::StepState state;
    if (optimizer_.low != nullptr) {
      const std::shared_lock gate(device_gate());
      gpu::join_values(optimizer_.mirror, optimizer_.low, optimizer_.rounded, optimizer_.values, stream_);
    }
    gpu::check_cuda(cudaMemcpyAsync(&state, passes_.state(), sizeof(state), cudaMemcpyDeviceToHost, stream_),
                    "reading the step's state");
    gpu::check_cuda(cudaStreamSynchronize(stream_), "a training step");
    // A step that is not finite does not count: the batches behind it are assembled in the buckets of others.
    const bool finite = (state.flags & gpu::kNotFinite) == 0;
    LENGTHWISE_CHECK(!finite || (state.flags & gpu::kTooLarge) == 0, "a batch was larger than its bucket at step {}",
                     state.step);
    StepMetrics metrics;
    metrics.loss = state.loss;
    metrics.gradient_norm = state.norm;
    metrics.lr = state.lr;
    if (!finite) metrics.not_finite = state.step + 1;
    return metrics;
  }

  Scorer& scorer() { return scorer_; }

 private:
  bool in_parts() const { return config_.accumulate > 1; }

  void prepare_optimizer(TrainState& state) {
    const Parameters& parameters = decoder_.parameters();
    optimizer_.count = parameters.values().numel();
    optimizer_.decayed = parameters.decayed();
    optimizer_.values = parameters.values().data_ptr<float>();
    optimizer_.gradients = parameters.gradients().data_ptr<float>();
    if (in_parts()) {
      part_sums_ = at::empty_like(parameters.gradients());
      optimizer_.gradients = part_sums_.const_data_ptr<float>();
      optimizer_.in_parts = true;
    } else if (passes_.product_gradients().defined()) {
      optimizer_.rounded_gradients = passes_.product_gradients().const_data_ptr();
      optimizer_.rounded = optimizer_.squared = passes_.product_gradients().numel();
      optimizer_.squares = passes_.product_squares().data_ptr<double>();
      optimizer_.square_count = passes_.product_squares().numel();
    }
    optimizer_.first = state.first.data_ptr<float>();
    optimizer_.second = state.second.data_ptr<float>();
    optimizer_.mirror = mirror_.defined() ? mirror_.data_ptr() : nullptr;
    if (optimizer_.rounded > 0) {
      low_ = at::empty({optimizer_.rounded}, mirror_.options().dtype(at::kShort));
      optimizer_.low = static_cast<uint16_t*>(low_.data_ptr());
      gpu::split_values(optimizer_.values, optimizer_.rounded, optimizer_.mirror, optimizer_.low, stream_);
    }
    optimizer_.peak = config_.lr;
    optimizer_.end = config_.lr_end;
    optimizer_.steps = config_.steps;
    optimizer_.warmup = warmup_steps(config_);
    optimizer_.beta1 = config_.beta1;
    optimizer_.beta2 = config_.beta2;
    optimizer_.epsilon = config_.epsilon;
    optimizer_.weight_decay = config_.weight_decay;
    optimizer_.clip = config_.clip;
    optimizer_.sums = sums_.data_ptr<double>();
    optimizer_.state = passes_.state();
  }

  /// What follows from a batch or a part of one: a whole step, or what the part adds to it. Gives the tokens.
  int64_t pass(std::span<const int64_t> examples) {
    int64_t tokens = 0, targets = 0, longest = 0;
    for (const int64_t example : examples) {
      const auto inputs = static_cast<int64_t>(examples_.sequence(example).size()) - 1;
      tokens += inputs;
      targets += static_cast<int64_t>(examples_.target(example).size());
      longest = std::max(longest, inputs);
    }
    const PassShape shape = bucket_of(std::ssize(examples), tokens, targets, longest);
    part_ = examples;
    try {
      run(shape);
    } catch (const c10::OutOfMemoryError&) {
      fail_out_of_memory(fmt::format("training on {} of {} sequences and {} tokens", in_parts() ? "parts" : "batches",
                                     examples.size(), tokens));
    }
    return tokens;
  }

  void run(const PassShape& shape) {
    Replayed& bucket = buckets_[{phase(), shape}];
    if (bucket.ready(stream_, [&] { launch(shape); })) {
      if (decoder_.goes_by_rules()) {
        const std::shared_lock gate(device_gate());
        load_streams(shape);
      }
      return bucket.replay();
    }
    const std::shared_lock gate(device_gate());
    if (passes_.reserve(shape)) buckets_.clear();
    load_streams(shape);
    launch(shape);
    buckets_[{phase(), shape}].was_launched();
  }

  /// The stretch of training that the step lies in: a step that was captured stands for those of its own.
  int64_t phase() const { return phase_of(decoder_.encoding(), done_); }

  /// Positions by rule are drawn here, for the tokens in the order that the device lays them.
  void load_streams(const PassShape& shape) {
    if (!decoder_.goes_by_rules()) return;
    const BatchPlacing by{.placing = &decoder_.placing(), .rng = &rng_, .step = step_};
    passes_.load_streams(make_batch(examples_, part_, {}, by).streams, shape);
  }

  void launch(const PassShape& shape) {
    gpu::AssembleBatch assemble;
    assemble.set = device_.tokens();
    assemble.order = device_.order();
    assemble.batch = passes_.batch(shape);
    assemble.parts = config_.accumulate;
    assemble.step_sequences = config_.batch_size;
    assemble.state = passes_.state();
    assemble.dropout_key = rng_.stream("dropout").key();
    assemble.offset_key = rng_.stream("offsets").key();
    assemble.random_offset = config_.random_offset;
    gpu::assemble_batch(assemble, stream_);
    const EncodingValues& values = values_of(shape);
    passes_.forward(shape, values, config_.model.dropout);
    passes_.backward(shape, values, config_.model.dropout);
    if (in_parts()) return add_part();
    optimizer_.losses = passes_.losses();
    gpu::optimizer_step(optimizer_, stream_);
  }

  void add_part() {
    const at::Tensor& gradients = decoder_.parameters().gradients();
    gpu::AddPart part;
    part.count = gradients.numel();
    part.gradients = gradients.const_data_ptr<float>();
    if (passes_.product_gradients().defined()) {
      part.rounded_gradients = passes_.product_gradients().const_data_ptr();
      part.rounded = passes_.product_gradients().numel();
    }
    part.sums = part_sums_.data_ptr<float>();
    part.losses = passes_.losses();
    part.state = passes_.state();
    gpu::add_part(part, stream_);
  }

  /// Values that learn or are drawn belong to their step; the others are made once, before anything is captured.
  const EncodingValues& values_of(const PassShape& shape) {
    int64_t positions = config_.random_offset > 0 ? config_.random_offset : shape.longest;
    positions = std::min(positions, decoder_.encoding().position_limit().value_or(positions));
    const auto [found, fresh] = values_.try_emplace({phase(), positions, shape.longest});
    EncodingValues& values = found->second;
    const LayerNoise noise = [this](int64_t layer) { return passes_.noise(config_.model.dropout, layer, done_); };
    if (values_by_token(decoder_, config_.random_offset == 0)) {
      values = token_values(decoder_, passes_.token_context(shape), noise);
    } else if (fresh || values.learns() || decoder_.encoding().random()) {
      values = encoding_values(decoder_, positions, shape.longest, noise);
    }
    return values;
  }

  const TrainConfig& config_;
  const TokenSet& examples_;
  Decoder& decoder_;
  cudaStream_t stream_;
  EpochOrder order_;
  DeviceExamples device_;
  at::Tensor mirror_;  ///< the weights in bfloat16
  at::Tensor low_;     ///< the lower halves of products' weights: with the mirror, their floats (split_values.h)
  at::Tensor sums_;
  at::Tensor part_sums_;  ///< of the parts' gradients, where there are several
  DecoderPasses passes_;
  GpuScorer scorer_;
  gpu::Optimizer optimizer_;
  Rng rng_;
  int64_t step_ = 0;               ///< the one at hand
  std::span<const int64_t> part_;  ///< its examples, or those of its part at hand
  double done_ = 0;                ///< share of the steps before it
  std::map<std::tuple<int64_t, int64_t, int64_t>, EncodingValues> values_;  ///< by phase, positions and distances
  std::map<std::pair<int64_t, PassShape>, Replayed> buckets_;               ///< by phase
};

class GatedLearner : public Learner {
 public:
  GatedLearner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder, TrainState& state,
               int64_t head_rows)
      : learner_(config, examples, decoder, state, head_rows) {}

  int64_t step(int64_t step) override { return learner_->step(step); }
  StepMetrics metrics() override { return learner_->metrics(); }
  bool runs_ahead() const override { return true; }
  Scorer& scorer() override { return learner_->scorer(); }

 private:
  Gated<GpuLearner> learner_;
};

}  // namespace

void use_own_gpu_stream() {
  if (!at::hasCUDA()) return;
  // Not one of torch's pool, which has 32 and gives them out again. Kept until the process ends, as is what torch's
  // allocator remembers about it.
  thread_local const cudaStream_t own = [] {
    cudaStream_t stream = nullptr;
    gpu::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    return stream;
  }();
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromExternal(own, c10::cuda::current_device()));
}

std::unique_ptr<Learner> make_gpu_learner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder,
                                          TrainState& state, int64_t head_rows) {
  LENGTHWISE_CHECK(decoder.fused(), "the GPU's kernels do not apply what an encoding states");
  return std::make_unique<GatedLearner>(config, examples, decoder, state, head_rows);
}

}  // namespace lengthwise
