#include <algorithm>

#include "core/error.h"
#include "positional/named.h"
#include "positional/part_states.h"

namespace lengthwise {
namespace {

/// Layer i has the encoding i mod n of n. What an encoding shares between its layers, as T5 its table, is shared by the
/// layers it has here; two equal encodings of the list share nothing.
class Layers : public Encoding {
 public:
  Layers(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters) {
    const auto count = static_cast<int64_t>(arguments.parts().size());
    if (count > shape.layers) {
      fail("layers(...) names {} encodings for the {} layers of the model", count, shape.layers);
    }
    for (int64_t part = 0; part < count; ++part) {
      const EncodingSpec& spec = arguments.parts()[static_cast<size_t>(part)];
      if (adds_to_embeddings(spec, shape)) {
        fail("layers(...): {} adds to the embeddings, in front of all layers", to_text(spec));
      }
      EncodingShape own = shape;
      own.layers = (shape.layers - part + count - 1) / count;
      parts_.push_back(make_encoding(spec, own, parameters.part(std::to_string(part))));
    }
  }

  void add_rules(std::vector<PositionRule>& rules) const override {
    for (const auto& part : parts_) part->add_rules(rules);
  }

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    return of(index).layer(index / size(), with_state_of(parts_, place(index), context));
  }

  int64_t variant(int64_t layer) const override { return of(layer).variant(layer / size()) * size() + layer % size(); }

  bool random() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->random(); });
  }

  std::vector<NormalBlock> features(int64_t layer) const override { return of(layer).features(layer / size()); }

  std::optional<KeyDecay> decay(int64_t layer) const override { return of(layer).decay(layer / size()); }

  bool attends(int64_t layer) const override { return of(layer).attends(layer / size()); }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override {
    return of(layer).attend(layer / size(), heads, values, with_state_of(parts_, place(layer), context), scale, mask);
  }

  std::vector<double> turns() const override { return turns_of(parts_); }

  int64_t state_size() const override { return side_by_side(parts_); }
  at::Tensor first_state(const EncodingContext& context) const override { return first_states(parts_, context); }

  // The others' states pass by.
  at::Tensor state_behind_attention(int64_t layer, const EncodingContext& context,
                                    const at::Tensor& weights) const override {
    return each_state(parts_, context.query_state, [&](size_t part, const at::Tensor& its) {
      if (part != place(layer)) return its;
      return of(layer).state_behind_attention(layer / size(), with_state_of(parts_, part, context), weights);
    });
  }

  at::Tensor state_behind_network(int64_t layer, const at::Tensor& state, const at::Tensor& branch) const override {
    return each_state(parts_, state, [&](size_t part, const at::Tensor& its) {
      return part == place(layer) ? of(layer).state_behind_network(layer / size(), its, branch) : its;
    });
  }

 private:
  int64_t size() const { return std::ssize(parts_); }
  size_t place(int64_t layer) const { return static_cast<size_t>(layer % size()); }
  const Encoding& of(int64_t layer) const { return *parts_[place(layer)]; }

  std::vector<std::unique_ptr<Encoding>> parts_;
};

}  // namespace

extern const EncodingEntry layers_encoding{.info = {.name = "layers",
                                                    .label = "Layers",
                                                    .family = "modifier",
                                                    .formula = "layer i has the encoding i mod n of the n in brackets",
                                                    .paper = "Yang et al. 2025 (2501.18795)"},
                                           .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
                                                      EncodingParameters parameters) -> std::unique_ptr<Encoding> {
                                             return std::make_unique<Layers>(arguments, shape, parameters);
                                           },
                                           .least_parts = 1,
                                           .most_parts = 1000};

}  // namespace lengthwise
