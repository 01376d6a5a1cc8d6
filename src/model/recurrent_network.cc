#include "model/recurrent_network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "model/architectures.h"
#include "model/plain_engine.h"
#include "model/plain_scorer.h"

namespace lengthwise {
namespace {

/// The states behind the last tokens of texts.
class KeptStates : public Continuation {
 public:
  explicit KeptStates(const RecurrentNetwork& network) : network_(network), states_(network.layers().size()) {}

  at::Tensor read(std::span<const std::vector<int32_t>> prompts, std::span<const TextPositions>) override {
    const at::NoGradGuard no_grad;
    constexpr int64_t kTokens = 8192;
    std::vector<at::Tensor> best;
    std::vector<std::vector<at::Tensor>> groups(states_.size());
    for_groups(prompts, kTokens, [&](size_t, std::span<const std::vector<int32_t>> group) {
      const Batch batch = on_device(prompt_batch(group), network_.device());
      const TimeOrder order = time_order(batch.offsets);
      const at::Tensor last = at::tensor(order.last, at::kLong).to(network_.device());
      at::Tensor x = network_.embed(batch.tokens.index_select(0, order.from));
      for (size_t i = 0; i < states_.size(); ++i) {
        const RecurrentLayer& layer = *network_.layers()[i];
        const at::Tensor all = layer.run(x, order);
        groups[i].push_back(all.index_select(0, last));
        x = all.narrow(1, 0, layer.units());
      }
      best.push_back(best_of(x.index_select(0, last)));
    });
    for (size_t i = 0; i < states_.size(); ++i) states_[i] = at::cat(groups[i]);
    return at::cat(best);
  }

  at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions, const std::vector<at::Tensor>&, int64_t,
                  const std::vector<int64_t>&) override {
    const at::NoGradGuard no_grad;
    const std::span<const int64_t> times(positions.const_data_ptr<int64_t>(), static_cast<size_t>(positions.numel()));
    at::Tensor x = network_.embed(tokens.to(network_.device()));
    for (size_t i = 0; i < states_.size(); ++i) {
      const RecurrentLayer& layer = *network_.layers()[i];
      states_[i] = layer.step(x, states_[i], times);
      x = states_[i].narrow(1, 0, layer.units());
    }
    return best_of(x);
  }

  void keep(const at::Tensor& rows) override {
    for (at::Tensor& state : states_) state = state.index_select(0, rows.to(state.device()));
  }

 private:
  at::Tensor best_of(const at::Tensor& rows) const { return network_.head(rows).argmax(-1).to(at::kCPU); }

  const RecurrentNetwork& network_;
  std::vector<at::Tensor> states_;  ///< by layer, [text, state]
};

}  // namespace

RecurrentNetwork::RecurrentNetwork(const ModelConfig& config, std::optional<uint64_t> seed, at::ScalarType type,
                                   at::Device device)
    : RecurrentNetwork(config) {
  parameters_.allocate_for(seed, type, device);
}

RecurrentNetwork::RecurrentNetwork(const ModelConfig& config) : Model(config) {
  const Architecture& architecture = find_architecture(config.architecture);
  embedding_ = &parameters_.add("embedding", {config.vocab_rows, config.width}, Initial::normal(1.0));
  for (int64_t index = 0; index < config.layers; ++index) {
    layers_.push_back(architecture.make_layer(parameters_, fmt::format("layers.{}.", index),
                                              index == 0 ? config.width : config.hidden, config));
  }
  out_ = &parameters_.add_product("head", {config.vocab_rows, config.hidden},
                                  Initial::normal(1.0 / std::sqrt(static_cast<double>(config.hidden))));
}

at::Tensor RecurrentNetwork::embed(const at::Tensor& tokens) const {
  return at::embedding(embedding_->value, tokens);
}

at::Tensor RecurrentNetwork::rows(const Batch& batch, const StepDropout& dropout, Arithmetic) const {
  const TimeOrder order = time_order(batch.offsets);
  const auto drop = [&](const at::Tensor& x, DropoutPlace place, int64_t layer) {
    if (!dropout.active()) return x;
    return x * dropout.mask(place, layer, x.size(0), x.size(1), x.options().requires_grad(false));
  };
  at::Tensor x = drop(embed(batch.tokens.index_select(0, order.from)), DropoutPlace::embedding, 0);
  for (size_t i = 0; i < layers_.size(); ++i) {
    x = layers_[i]->run(x, order).narrow(1, 0, layers_[i]->units());
    if (i + 1 < layers_.size()) x = drop(x, DropoutPlace::ff_out, static_cast<int64_t>(i));
  }
  return drop(x.index_select(0, order.to.index_select(0, batch.loss_rows)), DropoutPlace::final, 0);
}

at::Tensor RecurrentNetwork::head(const at::Tensor& rows) const {
  return at::matmul(rows, out_->value.t());
}

std::vector<at::Tensor> RecurrentNetwork::hidden(const Batch& batch) const {
  const at::NoGradGuard no_grad;
  const TimeOrder order = time_order(batch.offsets);
  at::Tensor x = embed(batch.tokens.index_select(0, order.from));
  std::vector<at::Tensor> hidden{x.index_select(0, order.to)};
  for (const auto& layer : layers_) {
    x = layer->run(x, order).narrow(1, 0, layer->units());
    hidden.push_back(x.index_select(0, order.to));
  }
  return hidden;
}

std::unique_ptr<Engine> RecurrentNetwork::engine(Arithmetic arithmetic) {
  return std::make_unique<PlainEngine>(*this, arithmetic);
}

std::unique_ptr<Continuation> RecurrentNetwork::continuation(Arithmetic, int64_t, int64_t) {
  return std::make_unique<KeptStates>(*this);
}

int64_t RecurrentNetwork::bytes_kept(int64_t) const {
  int64_t numbers = 0;
  for (const auto& layer : layers_) numbers += layer->state_size();
  return numbers * static_cast<int64_t>(parameters_.values().element_size());
}

int64_t count_recurrent_parameters(const ModelConfig& config) {
  return RecurrentNetwork(config).parameters().count();
}

}  // namespace lengthwise
