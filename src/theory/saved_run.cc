#include "theory/saved_run.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "eval/engines.h"
#include "eval/execute_run.h"
#include "train/checkpoint.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

constexpr int64_t kLayers = 2;  // no construction uses more

/// Columns that are zero in `set` become those of `drawn`.
void fill_columns(const at::Tensor& set, const at::Tensor& drawn) {
  const at::Tensor empty = set.abs().amax(0) == 0;
  set.copy_(at::where(empty.unsqueeze(0), drawn, set));
}

}  // namespace

void fill_others(Decoder& set, const Decoder& drawn, int64_t layers) {
  const at::NoGradGuard no_grad;
  const ModelConfig& config = set.config();
  for (int64_t index = 0; index < config.layers; ++index) {
    const LayerParameters& to = set.layer(index);
    const LayerParameters& from = drawn.layer(index);
    if (index >= layers) {
      to.qkv->value.copy_(from.qkv->value);
      to.out->value.copy_(from.out->value);
      to.ff_in->value.copy_(from.ff_in->value);
      to.ff_out->value.copy_(from.ff_out->value);
      continue;
    }
    fill_columns(to.ff_in->value, from.ff_in->value);
    // A head in use may have no queries on purpose: it is uniform.
    const at::Tensor in_use =
        to.qkv->value.view({config.width, 3, config.heads, config.head_dim}).abs().amax({0, 1, 3}) > 0;
    const at::Tensor shape = to.qkv->value.view({config.width, 3, config.heads, config.head_dim});
    shape.copy_(at::where(in_use.view({1, 1, config.heads, 1}), shape, from.qkv->value.view(shape.sizes())));
  }
}

void save_construction(const Construction& construction, const TheoryOptions& options, const TrainConfig& like,
                       OtherWeights others, const std::filesystem::path& out) {
  if (construction.set == nullptr) fail("the construction {} has no weights to save", construction.name);
  TrainConfig wanted = like;
  wanted.model.encoding = "nope";
  wanted.device = "cpu";
  const PreparedRun run = prepare_run(wanted);
  if (!run.data->frame.bos) fail("constructed weights count from <bos>, which the released wording does not have");
  const ModelConfig& model = run.config.model;
  if (model.layers < kLayers) fail("constructed weights need --layers {} or more, not {}", kLayers, model.layers);
  const std::unique_ptr<Decoder> decoder = make_decoder(model, run.config.seed, "cpu");
  const std::unique_ptr<Decoder> drawn = make_decoder(model, run.config.seed, "cpu");
  construction.set(*decoder, options);
  // The first layer alone is needed for positions; a construction with a head has it in the second.
  const bool has_head = decoder->layer(1).qkv->value.abs().max().item<double>() > 0;
  if (others == OtherWeights::drawn) fill_others(*decoder, *drawn, has_head ? 2 : 1);

  const RunFolder folder = RunFolder::open(out, run.config);
  if (folder.has_state() || folder.finished()) fail("{} holds a run that was trained already", shown(out));
  run.data->vocabulary.save(folder.file("vocabulary.json"));
  write_weights(folder.file("best.safetensors"), decoder->parameters(), 0);
  write_weights(folder.file("last.safetensors"), decoder->parameters(), 0);
  nlohmann::ordered_json record = {{"construction", construction.name},
                                   {"length", options.length},
                                   {"unit", options.unit},
                                   {"others", others == OtherWeights::drawn ? "drawn" : "zero"}};
  write_file(folder.file("construction.json"), json_text(record) + "\n");
}

}  // namespace lengthwise
