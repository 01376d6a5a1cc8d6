#include "model/encoding_sketch.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <map>
#include <numbers>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "positional/named.h"

namespace lengthwise {
namespace {

std::vector<double> numbers_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

std::vector<double> counted(int64_t count) {
  return numbers_of(at::arange(count, at::kDouble));
}

class Sketcher {
 public:
  Sketcher(const ModelConfig& config, int64_t length)
      : config_(config), length_(length), shape_(encoding_shape(config, at::kDouble, at::kCPU)) {
    encoding_ = make_encoding(read_encoding(config.encoding), shape_, {parameters_, "encoding."});
    parameters_.allocate(at::kDouble, Rng(1).stream("initial"));
  }

  std::vector<Sketch> all() {
    const at::Tensor places = at::arange(std::min(length_, encoding_->position_limit().value_or(length_)), at::kLong);
    if (const at::Tensor addition = encoding_->addition(context_at(places)); addition.defined()) {
      Sketch sketch{
          .title = "added to the embeddings", .layers = "in front of all layers", .across = "dim", .heat = true};
      sketch.columns = counted(addition.size(1));
      for (int64_t t = 0; t < addition.size(0); ++t)
        sketch.rows.emplace_back(fmt::format("position {}", t), numbers_of(addition[t]));
      sketches_.push_back(std::move(sketch));
    }
    std::map<int64_t, std::vector<std::string>> layers;
    for (int64_t layer = 0; layer < config_.layers; ++layer)
      layers[encoding_->variant(layer)].push_back(std::to_string(layer + 1));
    std::map<int64_t, bool> drawn;
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      if (!drawn.try_emplace(encoding_->variant(layer), true).second) continue;
      const std::vector<std::string>& list = layers[encoding_->variant(layer)];
      where_ = std::ssize(list) == config_.layers ? "all layers"
                                                  : (list.size() == 1 ? "layer " : "layers ") + join(list, ", ");
      draw(layer, places);
    }
    return std::move(sketches_);
  }

 private:
  /// Shown at the index whatever the rule of positions is, and what goes by digits as the digits of one number.
  EncodingContext context_at(const at::Tensor& places) const {
    EncodingContext context;
    context.positions = places;
    for (const PositionRule& rule : rules_of(*encoding_)) {
      const at::Tensor shown = rule.whole() ? places.clamp_max(rule.max - 1) : places.to(at::kDouble);
      context.streams.push_back({rule, shown, shown.unsqueeze(0), shown.unsqueeze(0)});
    }
    return context;
  }

  void draw(int64_t layer, const at::Tensor& places) {
    EncodingContext context = context_at(places);
    context.distances = length_;
    context.query_positions = context.key_positions = places.unsqueeze(0);
    if (const int64_t columns = column_count(encoding_->features(layer)); columns > 0) {
      context.query_features = context.key_features = at::zeros({1, places.size(0), columns}, at::kDouble);
    }
    if (encoding_->state_size() > 0) {
      context.query_state = context.key_state = encoding_->first_state(context).unsqueeze(0);
    }
    if (encoding_->has_course()) context.noise = StepNoise(0, uint64_t{0}, 0);  // as training begins
    const LayerValues values = encoding_->layer(layer, context);
    turns("queries and keys turn once in so many tokens", values.query,
          values.key.cos.defined() ? values.key : values.query);
    if (values.table.defined()) by_head("bias by distance", "distance", values.table);
    if (values.dense.defined()) {
      const at::Tensor last = values.dense.expand({1, config_.heads, -1, -1})[0].select(1, values.dense.size(2) - 1);
      by_head(fmt::format("bias of the last of {} tokens by distance", places.size(0)), "distance", last.flip(1));
    }
    if (values.query_scale.defined()) by_head("factor of a query's scores", "position", values.query_scale.t());
    if (values.window > 0) {
      Sketch sketch{.title = fmt::format("keys at a distance of {} or more are not seen", values.window),
                    .layers = where_};
      sketches_.push_back(std::move(sketch));
    }
  }

  void turns(const std::string& title, const Rotation& query, const Rotation& key) {
    if (!query.cos.defined() || query.cos.size(0) < 2) return;
    Sketch sketch{.title = title, .layers = where_, .across = kPairsOfDims};
    sketch.columns = counted(query.cos.size(1));
    const auto wavelengths = [](const Rotation& rotation) {
      const at::Tensor angle = at::atan2(rotation.sin[1], rotation.cos[1]).to(at::kDouble);
      return numbers_of((2 * std::numbers::pi / angle.abs()).clamp_max(1e12));
    };
    sketch.rows.emplace_back("tokens", wavelengths(query));
    if (!key.cos.is_same(query.cos) && key.cos.defined()) sketch.rows.emplace_back("keys", wavelengths(key));
    sketches_.push_back(std::move(sketch));
  }

  void by_head(const std::string& title, const std::string& across, const at::Tensor& table) {
    Sketch sketch{.title = title, .layers = where_, .across = across};
    sketch.columns = counted(table.size(1));
    for (int64_t head = 0; head < table.size(0); ++head)
      sketch.rows.emplace_back(fmt::format("head {}", head + 1), numbers_of(table[head]));
    sketches_.push_back(std::move(sketch));
  }

  const ModelConfig& config_;
  int64_t length_;
  EncodingShape shape_;
  Parameters parameters_;
  std::unique_ptr<Encoding> encoding_;
  std::string where_;
  std::vector<Sketch> sketches_;
};

}  // namespace

std::vector<Sketch> sketch_encoding(const ModelConfig& config, int64_t length) {
  const at::NoGradGuard no_grad;
  return Sketcher(config, length).all();
}

}  // namespace lengthwise
