#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/rng.h"
#include "theory/construction.h"

namespace lengthwise {
namespace {

constexpr int64_t kRows = 32;  // of the embedding: enough contents to tell apart

}  // namespace

std::unique_ptr<Decoder> make_theory_decoder(const TheoryShape& shape, int64_t length) {
  ModelConfig config;
  config.vocab_rows = kRows;
  config.dropout = 0;
  config.encoding = shape.encoding;
  config.encoding_options.rotary_fraction = shape.rotary_fraction;
  if (shape.decoder == "norm-free") {
    config.norm = "none";
    config.layers = 2;
    config.width = 96;
    config.heads = 1;
    config.head_dim = 64;
    config.ff_width = length + 1;
    config.score_scale = "none";
  } else {
    config.model = shape.decoder;
  }
  if (shape.units > 0) config.ff_width = shape.units;
  const at::ScalarType type = shape.precision == "fp64" ? at::kDouble : at::kFloat;
  return std::make_unique<Decoder>(resolve(config, kRows), /*seed=*/1, type);
}

bool has_room(const std::string& decoder, int64_t length) {
  if (decoder == "norm-free") return true;
  ModelConfig config;
  config.model = decoder;
  return resolve(config, kRows).ff_width >= length;
}

std::vector<int64_t> random_sequence(int64_t length, int64_t rows, uint64_t seed) {
  Rng rng = Rng(seed).stream("theory");
  std::vector<int64_t> tokens{kFirstToken};
  while (static_cast<int64_t>(tokens.size()) < length) tokens.push_back(rng.between(kFirstToken + 1, rows - 1));
  return tokens;
}

Arithmetic arithmetic_of_theory(const std::string& precision) {
  return precision == "bf16" ? Arithmetic::bf16 : Arithmetic::full;
}

double expected_error(const std::string& precision, int64_t length) {
  const double rounding = precision == "fp64"   ? std::numeric_limits<double>::epsilon()
                          : precision == "fp32" ? double{std::numeric_limits<float>::epsilon()}
                                                : std::ldexp(1.0, -8);
  return 32 * rounding * static_cast<double>(length);
}

}  // namespace lengthwise
