#include "train/start_from.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "core/printable.h"
#include "core/text.h"
#include "text/tokenizer.h"
#include "train/checkpoint.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

std::string checksum_over(const StartingWeights& weights) {
  std::map<std::string, at::Tensor> by_name(weights.file.tensors.begin(), weights.file.tensors.end());
  uint32_t crc = 0;
  for (const auto& [name, tensor] : by_name) {
    const at::Tensor values = tensor.to(at::kFloat).contiguous();
    std::string shape;
    for (const int64_t extent : values.sizes()) shape += fmt::format(" {}", extent);
    crc = crc32c(fmt::format("{}{}\n", name, shape), crc);
    crc = crc32c(
        {static_cast<const char*>(values.const_data_ptr()), static_cast<size_t>(values.numel()) * sizeof(float)}, crc);
  }
  if (!weights.vocabulary) return checksum_text(crc);
  for (int32_t id = 0; id < weights.vocabulary->size(); ++id) {
    const Token& token = weights.vocabulary->token(id);
    crc = crc32c(fmt::format("{} {}\n", token.glue(), token.text), crc);
  }
  return checksum_text(crc);
}

/// A token's text and glue.
using TokenKey = std::pair<std::string, uint32_t>;

/// What a token may be called in the other vocabulary, the best first. Between text that was prepared and everything
/// else: a text's tokens have no glue, and a space before a word is part of them.
std::vector<TokenKey> names_there(const Token& token, Cut here, Cut there) {
  if (is_text_cut(here) == is_text_cut(there)) return {{token.text, token.glue()}};
  if (is_text_cut(there)) {
    if (token.glue_left) return {{token.text, 0}};
    return {{std::string(kSpaceMark) + token.text, 0}, {token.text, 0}};
  }
  const std::string_view text = token.text;
  const std::string bare(text.starts_with(kSpaceMark) ? text.substr(kSpaceMark.size()) : text);
  return {{bare, 0}, {bare, Token::kGlueLeft}, {bare, Token::kGlueRight}, {bare, Token::kGlueLeft | Token::kGlueRight}};
}

/// Where each token of one vocabulary stands in the other; -1: nowhere.
std::vector<int64_t> matching_rows(const Vocabulary& wanted, const Vocabulary& there) {
  std::map<TokenKey, int64_t> places;
  for (int32_t id = Vocabulary::kSpecials; id < there.size(); ++id)
    places[{there.token(id).text, there.token(id).glue()}] = id;
  std::vector<int64_t> rows;
  for (int32_t id = 0; id < wanted.size(); ++id) {
    rows.push_back(id < Vocabulary::kSpecials ? id : -1);
    if (id < Vocabulary::kSpecials) continue;
    for (const TokenKey& name : names_there(wanted.token(id), wanted.cut(), there.cut())) {
      const auto found = places.find(name);
      if (found == places.end()) continue;
      rows.back() = found->second;
      break;
    }
  }
  return rows;
}

/// `, 12 of 15 tokens (not there: Sort, following, numbers)`, with the first few of them.
std::string found_tokens(const Vocabulary& vocabulary, const std::vector<int64_t>& rows) {
  constexpr size_t kNamed = 12;
  std::vector<std::string> missing;
  for (size_t id = 0; id < rows.size(); ++id) {
    if (rows[id] < 0) missing.push_back(printable(vocabulary.token(static_cast<int32_t>(id)).text));
  }
  std::string text = fmt::format(", {} of {} tokens", rows.size() - missing.size(), rows.size());
  if (missing.empty()) return text;
  const size_t more = missing.size() - std::min(missing.size(), kNamed);
  missing.resize(missing.size() - more);
  return text +
         fmt::format(" (not there: {}{})", join(missing, " "), more > 0 ? fmt::format(" and {} more", more) : "");
}

class Transfer {
 public:
  Transfer(const StartingWeights& weights, const Vocabulary& vocabulary, Model& model)
      : weights_(weights), vocabulary_(vocabulary), model_(model) {}

  std::string carry_out() {
    at::NoGradGuard no_grad;
    for (Parameter& parameter : model_.parameters().all()) take(parameter);
    for (const auto& [name, tensor] : weights_.file.tensors) {
      if (!known_.contains(name)) left_.push_back(name);
    }
    if (layers_ == 0) {
      fail("--start-from {}: no layer of it fits this model; its sizes (--layers, --width, --heads, --ff-width) differ",
           weights_.file.path);
    }
    std::string line = fmt::format("beginning with {} ({}): {} of {} parameters{}", weights_.file.path,
                                   weights_.checksum, taken_, model_.parameters().all().size(), tokens_);
    if (!fresh_.empty()) line += "; not there, so begun anew: " + join(fresh_, ", ");
    if (!left_.empty()) line += "; not needed here: " + join(left_, ", ");
    return line;
  }

 private:
  void take(Parameter& parameter) {
    const at::Tensor* there = nullptr;
    for (const auto& [name, tensor] : weights_.file.tensors) {
      if (name == parameter.name) there = &tensor;
    }
    known_[parameter.name] = true;
    const bool by_token = parameter.name == "embedding" || parameter.name == "head";
    if (there != nullptr && by_token && weights_.vocabulary && take_rows(parameter, *there)) return;
    if (there == nullptr || there->sizes() != parameter.value.sizes()) {
      fresh_.push_back(there == nullptr ? parameter.name : fmt::format("{} (of another shape there)", parameter.name));
      return;
    }
    parameter.value.copy_(*there);
    ++taken_;
    if (parameter.name.starts_with("layers.")) ++layers_;
  }

  /// False where the widths differ, or where all rows can be taken as they stand, with those beyond the vocabulary.
  bool take_rows(Parameter& parameter, const at::Tensor& there) {
    if (there.dim() != 2 || there.size(1) != parameter.value.size(1)) return false;
    if (vocabulary_ == *weights_.vocabulary && there.sizes() == parameter.value.sizes()) return false;
    if (weights_.vocabulary->size() > there.size(0)) {
      fail("--start-from {}: its embedding has {} rows, but the vocabulary.json beside it {} tokens",
           weights_.file.path, there.size(0), weights_.vocabulary->size());
    }
    const std::vector<int64_t> rows = matching_rows(vocabulary_, *weights_.vocabulary);
    for (size_t id = 0; id < rows.size(); ++id) {
      if (rows[id] >= 0) parameter.value[static_cast<int64_t>(id)].copy_(there[rows[id]]);
    }
    ++taken_;
    tokens_ = found_tokens(vocabulary_, rows);
    return true;
  }

  const StartingWeights& weights_;
  const Vocabulary& vocabulary_;
  Model& model_;
  std::map<std::string, bool> known_;
  std::vector<std::string> fresh_, left_;
  int64_t taken_ = 0;
  int64_t layers_ = 0;
  std::string tokens_;
};

}  // namespace

StartingWeights read_starting_weights(const fs::path& from) {
  const bool folder = is_folder(from);
  const fs::path path = folder ? from / "best.safetensors" : from;
  if (folder && !is_there(path)) {
    fail("--start-from {}: it has no best.safetensors; name the folder of a run, or a .safetensors file", shown(from));
  }
  StartingWeights weights;
  weights.file = read_safetensors(path);
  for (const auto& [name, tensor] : weights.file.tensors) {
    if (!at::isFloatingType(tensor.scalar_type()))
      fail("--start-from {}: '{}' is no tensor of weights", shown(path), name);
    if (!all_finite(tensor)) fail("--start-from {}: '{}' holds values that are not finite numbers", shown(path), name);
  }
  const fs::path vocabulary = path.parent_path() / "vocabulary.json";
  if (is_there(vocabulary)) weights.vocabulary = Vocabulary::load(vocabulary);
  weights.checksum = checksum_over(weights);
  return weights;
}

void disturb(Parameters& parameters, double share, uint64_t seed) {
  at::NoGradGuard no_grad;
  const Rng rng = Rng(seed).stream("start noise");
  for (Parameter& parameter : parameters.all()) {
    at::Tensor values = parameter.value.detach().to(at::kCPU, at::kDouble, false, true).contiguous();
    const std::span<double> weights(values.data_ptr<double>(), static_cast<size_t>(values.numel()));
    double squares = 0;  // summed in order, so that threads do not matter
    for (const double weight : weights) squares += weight * weight;
    if (squares == 0) continue;
    std::vector<double> noise(weights.size());
    fill_normal(rng.stream(parameter.name), share * std::sqrt(squares / static_cast<double>(weights.size())),
                noise.data(), values.numel());
    for (size_t i = 0; i < weights.size(); ++i) weights[i] += noise[i];
    parameter.value.copy_(values);
  }
}

std::string start_from(const StartingWeights& weights, const Vocabulary& vocabulary, Model& model) {
  return Transfer(weights, vocabulary, model).carry_out();
}

}  // namespace lengthwise
