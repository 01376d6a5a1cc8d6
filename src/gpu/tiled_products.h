#pragma once
/// Products of many rows with a short inner side, by the tiles that are asked for, through cublasLt.
///
/// Of a product whose inner side is short, storing a tile's result is a large part of the tile's time. cuBLAS's first
/// choice takes up to a tenth longer there than tiles of 128 x 128 (docs/kernels.md), likely because with these one
/// warp group stores while another one multiplies.
#include <cublasLt.h>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

namespace lengthwise {

/// c [m, n] = a [m, k] b [k, n], row-major, bfloat16; `stride`: elements from one row to the next.
struct TiledProduct {
  int64_t m = 0, n = 0, k = 0;
  int64_t a_stride = 0;
  int64_t b_stride = 0;
  bool b_transposed = false;  ///< b is stored as [n, k]
  int64_t c_stride = 0;

  auto operator<=>(const TiledProduct&) const = default;

  /// Does it pay to ask for tiles? On an H200 it does for the products of queries, keys and values and, both ways, of
  /// attention's result in `base`, and for none with a longer inner side; with fewer rows cuBLAS's first choice is as
  /// good as any. The head's way back, which has this shape too, was not measured by itself.
  bool pays() const { return m >= 8192 && n >= 256 && k <= 1024; }
};

class TiledProducts {
 public:
  TiledProducts();
  ~TiledProducts();
  TiledProducts(const TiledProducts&) = delete;
  TiledProducts& operator=(const TiledProducts&) = delete;

  /// False, with nothing done, where cublasLt offers no such tiles for it.
  bool run(const TiledProduct& product, const void* a, const void* b, void* c, void* workspace, size_t workspace_bytes,
           cudaStream_t stream);

 private:
  struct Plan {
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
    std::optional<cublasLtMatmulAlgo_t> algorithm;
  };

  Plan plan(const TiledProduct& product, size_t workspace_bytes) const;

  cublasLtHandle_t handle_ = nullptr;
  std::map<TiledProduct, Plan> plans_;
};

}  // namespace lengthwise
