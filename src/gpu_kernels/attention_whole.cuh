#pragma once
/// What a block of the backward pass over whole sequences (attention_whole_backward.cu) keeps in shared memory, and the
/// part of that pass that is a sum for every query.
#include "gpu_kernels/attention_tiled.cuh"

namespace lengthwise::gpu {

inline constexpr int kWholeDim = 64;
inline constexpr int kWholeGroups = 2;
inline constexpr int kWholeThreads = kWholeGroups * kGroupThreads;
inline constexpr int kOwnDims = kWholeDim / kWholeGroups;

constexpr int64_t whole_tiles(int64_t longest) {
  return (longest + kRows - 1) / kRows;
}

/// What a kernel is made for.
template <Terms kTermsOf, bool kDropsOf, bool kLearnsOf>
struct WholeKind {
  static constexpr Terms kTerms = kTermsOf;
  static constexpr bool kDrops = kDropsOf;
  static constexpr bool kLearns = kLearnsOf;  ///< the table
};

/// What lies in shared memory, from its beginning on. Tiles of scores' gradients have a row for each key and a column
/// for each query.
template <class Kind>
struct WholeRoom {
  bf16 *keys, *values;     ///< [group]
  bf16 *queries, *d_outs;  ///< two, in turns
  bf16* d_scores;          ///< [group]
  float4* d_queries;       ///< [tile, block of dims, thread], from the third tile on: those before need no second turn
  float *log_sums, *deltas;  ///< [query], of the whole sequence
  uint32_t* row_keys;        ///< [query], where there is dropout
  float* strips;             ///< [group][2], where there is a table
  bf16* slants;              ///< [warp][kSlantSize], where it learns
  float* diagonals;          ///< [warp][kDiagonals], where it learns
  float* d_table;            ///< [distance], where it learns

  static constexpr int kBlocks = kOwnDims / 8;
  static constexpr int kDiagonals = 80;    ///< one more than eight rows of 72 columns have
  static constexpr int kSlantStride = 84;  ///< an even row's last diagonal stands one place further on
  static constexpr int kSlantSize = 8 * kSlantStride;

  static constexpr size_t bytes(int64_t longest) {
    const auto tiles = static_cast<size_t>(whole_tiles(longest));
    return 5 * kWholeGroups * kTileSize<kWholeDim> * sizeof(bf16) +
           (tiles - kWholeGroups) * kBlocks * kWholeThreads * sizeof(float4) +
           tiles * (Kind::kDrops ? 3 : 2) * kRows * sizeof(float) +
           (kHasTable<Kind::kTerms> ? 2 * kWholeGroups * kStrip * sizeof(float) : 0) +
           (Kind::kLearns ? kWholeThreads / 32 * (kSlantSize * sizeof(bf16) + kDiagonals * sizeof(float)) +
                                tiles * kRows * sizeof(float)
                          : 0);
  }

  __device__ __forceinline__ WholeRoom(unsigned char* memory, int64_t longest) {
    const auto tiles = static_cast<int>(whole_tiles(longest));
    keys = reinterpret_cast<bf16*>(memory);
    values = keys + kWholeGroups * kTileSize<kWholeDim>;
    queries = values + kWholeGroups * kTileSize<kWholeDim>;
    d_outs = queries + 2 * kTileSize<kWholeDim>;
    d_scores = d_outs + 2 * kTileSize<kWholeDim>;
    d_queries = reinterpret_cast<float4*>(d_scores + kWholeGroups * kTileSize<kWholeDim>);
    log_sums = reinterpret_cast<float*>(d_queries + (tiles - kWholeGroups) * kBlocks * kWholeThreads);
    deltas = log_sums + tiles * kRows;
    row_keys = reinterpret_cast<uint32_t*>(deltas + tiles * kRows);
    strips = deltas + (Kind::kDrops ? 2 : 1) * tiles * kRows;
    d_table = strips + (kHasTable<Kind::kTerms> ? 2 * kWholeGroups * kStrip : 0);
    diagonals = d_table + tiles * kRows;
    slants = reinterpret_cast<bf16*>(diagonals + kWholeThreads / 32 * kDiagonals);
  }
};

/// The gradient of a table that learns: what scores' gradients on the same diagonal come to, in three steps, of which
/// the second and the third find their time beside products.
template <class Kind>
class WholeDiagonals {
 public:
  using Room = WholeRoom<Kind>;
  static constexpr int kSeen = 79;  ///< diagonals of a warp's 16 keys and a tile's queries

  __device__ __forceinline__ explicit WholeDiagonals(const Room& room) : room_(room) {
    if constexpr (!Kind::kLearns) return;
    // What no row writes to stays 0.
    uint32_t* slant = reinterpret_cast<uint32_t*>(of_warp(own_warp()));
    for (int i = lane(); i < Room::kSlantSize / 2; i += 32) slant[i] = 0;
  }

  /// A warp's own: rows of keys, columns of queries. Two rows of a lane that lie 8 apart meet on the same diagonals in
  /// neighbouring blocks of columns. What is left, eight rows, is written so that a diagonal is a column, or, in even
  /// rows, the column before: there two neighbours would not lie in one word otherwise.
  __device__ __forceinline__ void put(const float (&d_s)[kRows / 8][4]) const {
    const int row = lane() / 4;
    bf16* to = of_warp(own_warp()) + row * Room::kSlantStride + 2 * (lane() % 4) + (8 - row) / 2 * 2;
#pragma unroll
    for (int block = 0; block <= kRows / 8; ++block) {
      float sums[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float upper = block > 0 ? d_s[block > 0 ? block - 1 : 0][e] : 0.0f;
        const float lower = block < kRows / 8 ? d_s[block < kRows / 8 ? block : 0][2 + e] : 0.0f;
        sums[e] = upper + lower;
      }
      *reinterpret_cast<uint32_t*>(to + 8 * block) = pack(sums[0], sums[1]);
    }
  }

  /// Behind a barrier: the warp's eight rows to one, a lane four diagonals.
  __device__ __forceinline__ void add_up() const {
    constexpr int kFours = (kSeen + 3) / 4;
    if (lane() >= kFours) return;
    const bf16* from = of_warp(own_warp()) + 4 * lane();
    float sums[4] = {0, 0, 0, 0};
#pragma unroll
    for (int row = 0; row < 8; ++row) {
      const uint2 four = *reinterpret_cast<const uint2*>(from + row * Room::kSlantStride);
      const float values[5] = {low_of(four.x), high_of(four.x), low_of(four.y), high_of(four.y),
                               row % 2 == 0 ? as_float(from[row * Room::kSlantStride + 4]) : 0.0f};
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] += values[i + (row % 2 == 0 ? 1 : 0)];
    }
    *reinterpret_cast<float4*>(sums_of(own_warp()) + 4 * lane()) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  }

  /// Behind another barrier: to the table's places, a thread a distance. `behind`: from the keys of the first group to
  /// the queries.
  __device__ __forceinline__ void add_to_table(int behind, int end) const {
    const int distance = behind - (kWholeGroups * kRows - 1) + static_cast<int>(threadIdx.x);
    if (distance < 0 || distance >= min(end, behind + kRows)) return;
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < kWholeThreads / 32; ++warp) {
      const int place = distance - behind + 16 * warp + 15;
      if (place >= 0 && place < kSeen) sum += sums_of(warp)[place];
    }
    room_.d_table[distance] += sum;
  }

 private:
  static __device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  static __device__ __forceinline__ int own_warp() {
    return static_cast<int>(threadIdx.x) / 32;
  }
  __device__ __forceinline__ bf16* of_warp(int warp) const {
    return room_.slants + warp * Room::kSlantSize;
  }
  __device__ __forceinline__ float* sums_of(int warp) const {
    return room_.diagonals + warp * Room::kDiagonals;
  }

  const Room& room_;
};

/// delta of a tile's rows, four threads to a row: the result's part is fetched long before the tile of d_out is there.
class WholeDeltas {
 public:
  __device__ __forceinline__ WholeDeltas(const Attention& args, const AttentionGradients& gradients, Sequence sequence,
                                         int head)
      : args_(args), out_(static_cast<const bf16*>(gradients.out)), sequence_(sequence), head_(head) {}

  __device__ __forceinline__ void fetch(int tile) {
    const int query = tile * kRows + row();
    const auto dim = static_cast<int>(args_.dim);
    const bf16* from = out_ + (sequence_.begin + query) * (args_.heads * args_.dim) + head_ * dim + column();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bool there = query < sequence_.length && column() + 8 * i < dim;
      held_[i] = there ? *reinterpret_cast<const uint4*>(from + 8 * i) : make_uint4(0, 0, 0, 0);
    }
  }
  /// Of the tile that was fetched last.
  __device__ __forceinline__ void find(int tile, const bf16* d_outs, float* deltas) const {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bf16* d_out = d_outs + GroupTile<kWholeDim>::place(row(), column() + 8 * i);
      sum += dot_eight(held_[i], *reinterpret_cast<const uint4*>(d_out));
    }
    sum = quad_sum(sum);
    if (threadIdx.x % 4 == 0) deltas[tile * kRows + row()] = sum;
  }

 private:
  static __device__ __forceinline__ int row() {
    return static_cast<int>(threadIdx.x) / 4;
  }
  static __device__ __forceinline__ int column() {
    return static_cast<int>(threadIdx.x) % 4 * 16;
  }

  const Attention& args_;
  const bf16* out_;
  Sequence sequence_;
  int head_;
  uint4 held_[2];
};

}  // namespace lengthwise::gpu
