#include "analysis/attention_pair.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "core/error.h"
#include "model/inspect.h"

namespace lengthwise {
namespace {

/// Layers and queries that are held at once.
struct Piece {
  int64_t first_layer = 0, layers = 0;
  int64_t first_query = 0, queries = 0;
};

/// Whole layers where they fit, otherwise one layer at a time and as many queries as do.
std::vector<Piece> pieces_of(int64_t layers, int64_t heads, int64_t tokens, int64_t most_held) {
  const int64_t of_layer = heads * tokens * tokens;
  std::vector<Piece> pieces;
  if (of_layer <= most_held) {
    const int64_t together = most_held / of_layer;
    for (int64_t first = 0; first < layers; first += together)
      pieces.push_back({first, std::min(together, layers - first), 0, tokens});
    return pieces;
  }
  const int64_t queries = std::max<int64_t>(1, most_held / (heads * tokens));
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (int64_t first = 0; first < tokens; first += queries)
      pieces.push_back({layer, 1, first, std::min(queries, tokens - first)});
  }
  return pieces;
}

/// Logarithms of weights [head, query, key] double of every layer of the piece.
std::vector<at::Tensor> log_weights(const Decoder& decoder, const std::vector<int64_t>& tokens, const Piece& piece,
                                    int64_t block) {
  std::vector<std::vector<at::Tensor>> parts(static_cast<size_t>(piece.layers));
  Inspection inspection;
  inspection.layers = piece.first_layer + piece.layers;
  inspection.block = block;
  inspection.attention = [&](const AttentionRows& rows) {
    if (rows.layer < piece.first_layer) return;
    const int64_t begin = std::max(piece.first_query, rows.first_query);
    const int64_t end = std::min(piece.first_query + piece.queries, rows.first_query + rows.scores.size(1));
    if (begin >= end) return;
    const at::Tensor scores = rows.scores.narrow(1, begin - rows.first_query, end - begin);
    parts[static_cast<size_t>(rows.layer - piece.first_layer)].push_back(at::log_softmax(scores.to(at::kDouble), -1));
  };
  inspect(decoder, placed_sequence(decoder, tokens), inspection);
  std::vector<at::Tensor> layers;
  for (std::vector<at::Tensor>& part : parts) layers.push_back(part.size() == 1 ? part.front() : at::cat(part, 1));
  return layers;
}

}  // namespace

std::vector<std::vector<at::Tensor>> compare_attention(const Decoder& a, const Decoder& b,
                                                       const std::vector<int64_t>& tokens,
                                                       const std::vector<Divergence>& divergences, int64_t most_held) {
  const at::NoGradGuard no_grad;
  const int64_t layers = a.config().layers;
  LENGTHWISE_CHECK(layers == b.config().layers, "{} layers against {}", layers, b.config().layers);
  const auto count = static_cast<int64_t>(tokens.size());
  const int64_t heads = std::max(a.config().heads, b.config().heads);
  std::vector<std::vector<at::Tensor>> means(divergences.size(), std::vector<at::Tensor>(static_cast<size_t>(layers)));
  for (const Piece& piece : pieces_of(layers, heads, count, most_held)) {
    const std::vector<at::Tensor> of_a = log_weights(a, tokens, piece, most_held);
    const std::vector<at::Tensor> of_b = log_weights(b, tokens, piece, most_held);
    for (size_t d = 0; d < divergences.size(); ++d) {
      for (size_t layer = 0; layer < of_a.size(); ++layer) {
        at::Tensor& mean = means[d][layer + static_cast<size_t>(piece.first_layer)];
        const at::Tensor part = divergence_sums(of_a[layer], of_b[layer].to(of_a[layer].device()), divergences[d]) /
                                static_cast<double>(count);
        mean = mean.defined() ? mean + part.to(at::kCPU) : part.to(at::kCPU);
      }
    }
  }
  return means;
}

}  // namespace lengthwise
