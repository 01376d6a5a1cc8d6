#pragma once
/// Ragged batches for attention on the GPU: every way, both storages, and what encodings put into scores.
#include <cstdint>
#include <ostream>
#include <vector>

#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

struct AttentionCase {
  std::vector<int64_t> lengths;
  Storage storage = Storage::bfloat16;
  int64_t heads = 2;
  int64_t dim = 64;
  int64_t pairs = 0;
  bool table = false;
  double dropout = 0;
  int64_t longest = 0;  ///< what the launch is made for; 0: the longest there is
  int64_t window = 0;
  bool query_scale = false;
  bool key_turn = false;  ///< keys are rotated in a way of their own
  bool key_bias = false;  ///< without dropout
  /// Biases of pairs: 0 none, 1 the same for all sequences, 2 of each its own, 3 as 1, from a map.
  int64_t dense = 0;
  int64_t columns = 0;  ///< of something else behind the values of a token
  bool fixed = false;   ///< the table does not learn
};

inline std::ostream& operator<<(std::ostream& to, const AttentionCase& c) {
  to << (c.storage == Storage::float32 ? "float" : "bf16") << " dim " << c.dim << " pairs " << c.pairs << " table "
     << c.table << " dropout " << c.dropout << " window " << c.window << " factors " << c.query_scale << " key turn "
     << c.key_turn << " key bias " << c.key_bias << " dense " << c.dense << " columns " << c.columns << " fixed "
     << c.fixed << " lengths";
  for (const int64_t length : c.lengths) to << ' ' << length;
  return to;
}

inline std::vector<AttentionCase> attention_cases() {
  constexpr Storage kFloat = Storage::float32;
  constexpr Storage kBf16 = Storage::bfloat16;
  std::vector<AttentionCase> all{
      // Whole sequences in a block.
      {{1, 30, 17, 32, 16}, kBf16},
      {{5, 31, 0, 2}, kBf16, 3, 64, 8, true, 0.1},
      {{33, 64, 1, 48}, kBf16, 2, 64, 0, true, 0.1},
      {{64, 50}, kBf16, 1, 128, 5, true, 0.3},
      {{9, 20}, kBf16, 2, 16, 3, true, 0.1},
      {{40, 3}, kBf16, 2, 32, 16, false, 0.1},
      {{12, 29}, kBf16, 2, 24, 2, true, 0.1, 32},
      // Tiles.
      {{65, 1, 130}, kBf16, 2, 64, 8, true, 0.1},
      {{100, 64, 3}, kBf16, 1, 32, 0, false, 0, 128},
      {{150, 64}, kBf16, 1, 64},
      {{90, 192}, kBf16, 1, 64, 0, false, 0.2},
      {{129}, kBf16, 1, 16, 0, true, 0.2},
      {{70}, kBf16, 1, 128, 64, true, 0.1},
      {{80, 0, 20}, kBf16, 2, 40, 0, true, 0.1, 100},
      // Whole sequences in a block on the way back.
      {{300, 64, 257}, kBf16, 1, 64, 8, true, 0.1, 0, 0, false, false, false, 0, 0, true},
      {{449, 2, 512}, kBf16, 1, 64},
      {{390, 0, 257}, kBf16, 1, 64, 8, true, 0.1},
      {{512}, kBf16, 1, 64, 0, true},
      {{300, 64}, kBf16, 2, 64, 0, true, 0.1, 512},
      {{300, 70}, kBf16, 1, 64, 0, true, 0, 0, 0, true},  // factors as well: by tiles
      {{270, 0, 65}, kBf16, 2, 40, 3, false, 0.1, 0, 0, false, true},
      {{385, 128}, kBf16, 1, 64, 0, false, 0, 0, 0, false, false, true, 0, 8},
      {{320}, kBf16, 1, 64, 0, false, 0.2, 512},
      // Float.
      {{1, 30, 17, 40}, kFloat, 2, 64, 8, true, 0.1},
      {{70, 33}, kFloat, 2, 16, 3, false, 0},
      {{20, 65}, kFloat, 1, 32, 0, true, 0.1},
      {{34}, kFloat, 1, 128, 64, true, 0},
      {{11, 45}, kFloat, 2, 24, 5, true, 0.1},
      // What goes beyond tables and one rotation.
      {{5, 31, 0, 17}, kBf16, 2, 32, 4, true, 0.1, 0, 7, true, true},
      {{50, 64, 9}, kBf16, 2, 64, 8, false, 0.1, 0, 20, true, true},
      {{33, 60}, kBf16, 1, 16, 0, true, 0, 0, 0, true, false, true},
      {{130, 1, 65}, kBf16, 2, 64, 8, true, 0.1, 0, 40, true, true},
      {{200, 64}, kBf16, 1, 16, 0, false, 0.1, 0, 70},
      {{100, 129}, kBf16, 1, 32, 16, true, 0, 0, 3, true, true, true},
      {{140}, kBf16, 1, 128, 3, false, 0, 0, 0, true, false, true},
      {{40, 70}, kFloat, 2, 16, 3, true, 0.1, 0, 9, true, true},
      {{75, 3}, kFloat, 1, 24, 5, false, 0, 0, 33, true, true, true},
      // Biases of pairs, and columns behind the values.
      {{5, 31, 0, 17}, kBf16, 2, 32, 0, false, 0.1, 0, 0, false, false, false, 1, 8},
      {{50, 64, 9}, kBf16, 2, 16, 4, true, 0.1, 0, 20, true, false, false, 2},
      {{130, 1, 65}, kBf16, 2, 64, 8, true, 0.1, 0, 0, false, false, false, 1, 24},
      {{100, 129}, kBf16, 1, 32, 0, false, 0, 0, 70, false, false, false, 2, 8},
      {{70}, kBf16, 1, 128, 0, false, 0.1, 0, 0, false, false, false, 1},
      {{450, 100, 300, 60}, kBf16, 11, 16, 0, false, 0.1, 0, 0, true, false, false, 1},  // one part for all sequences
      {{450, 64, 400}, kBf16, 12, 64, 8, true, 0, 0, 90, false, false, false, 1},
      {{130, 1, 65}, kBf16, 2, 64, 8, false, 0.1, 0, 0, false, false, false, 3, 24},
      {{100, 0, 129}, kBf16, 1, 40, 0, false, 0, 150, 0, false, false, false, 3},
      {{250, 64, 200, 70, 66}, kBf16, 12, 64, 0, false, 0, 0, 0, false, false, false, 3},  // three parts
      // Biases of pairs of whole sequences, from a map: their gradient out of those of scores.
      {{300, 0, 257, 64, 65, 1, 2, 3, 129}, kBf16, 2, 64, 8, false, 0, 0, 0, false, false, false, 3, 24},
      {{385, 512}, kBf16, 1, 64, 0, false, 0.1, 0, 0, false, false, false, 3},
      {{270, 100}, kBf16, 2, 40, 0, false, 0.2, 512, 0, false, false, false, 3},
      {{40, 70}, kFloat, 2, 16, 3, true, 0.1, 0, 9, true, true, false, 1, 8},
      {{33, 2, 64}, kFloat, 1, 24, 0, false, 0, 0, 0, false, false, false, 2},
      {{33, 60}, kBf16, 1, 16, 0, false, 0, 0, 0, false, false, true, 0, 8},
      {{130, 1, 65}, kBf16, 2, 64, 8, false, 0, 0, 0, false, false, true, 0, 8},
  };
#ifdef LENGTHWISE_CUDA
  const std::vector<int64_t> mixed{2048, 1, 77, 512, 300, 1000};
  for (const int64_t dim : {16, 32, 64, 128}) all.push_back({mixed, kBf16, 2, dim, dim / 4, true, 0.1});
  all.push_back({mixed, kBf16, 2, 64, 0, false, 0.1});
  all.push_back({mixed, kFloat, 1, 64, 8, true, 0.1});
  for (const int64_t window : {0, 128, 200})
    all.push_back({mixed, kBf16, 2, 64, 8, true, 0, 0, window, true, true, true});
  all.push_back({mixed, kBf16, 2, 64, 0, true, 0.1, 0, 64, true});
  all.push_back({{8192, 700}, kBf16, 1, 64, 0, true, 0.1});
  all.push_back({std::vector<int64_t>(9, 500), kBf16, 12, 64, 0, false, 0.1, 0, 0, false, false, false, 3});
  for (const int64_t dense : {1, 2, 3})
    all.push_back({mixed, kBf16, 2, 64, 0, false, 0.1, 0, 0, false, false, false, dense, 8});
  for (const int64_t dense : {1, 2})
    all.push_back({std::vector<int64_t>(64, 30), kBf16, 12, 64, 8, true, 0.1, 0, 0, false, false, false, dense});
  for (const Storage storage : {kBf16, kFloat}) {
    all.push_back({std::vector<int64_t>(64, 30), storage, 12, 64, 8, true, 0.1});
    all.push_back({std::vector<int64_t>(200, 61), storage, 4, 32, 0, true, 0.1});
  }
#endif
  return all;
}

}  // namespace lengthwise::gpu
