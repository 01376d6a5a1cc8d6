#include "gpu/tiled_products.h"

#include <array>

#include "core/error.h"

namespace lengthwise {
namespace {

constexpr uint32_t kTile = CUBLASLT_MATMUL_TILE_128x128;
/// How many algorithms to look through for it.
constexpr int kOffered = 16;

void check(cublasStatus_t status, const char* what) {
  LENGTHWISE_CHECK(status == CUBLAS_STATUS_SUCCESS, "cublasLt: {} failed: {}", what, cublasGetStatusString(status));
}

cublasLtMatrixLayout_t layout(int64_t rows, int64_t columns, int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, CUDA_R_16BF, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                   stride),
        "a layout");
  return made;
}

template <class T>
T field_of(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t which) {
  T value{};
  size_t written = 0;
  check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, which, &value, sizeof(value), &written), "a field");
  return value;
}

}  // namespace

TiledProducts::TiledProducts() {
  check(cublasLtCreate(&handle_), "start");
}

TiledProducts::~TiledProducts() {
  for (auto& [shape, plan] : plans_) {
    for (cublasLtMatrixLayout_t made : {plan.a, plan.b, plan.c}) cublasLtMatrixLayoutDestroy(made);
    cublasLtMatmulDescDestroy(plan.product);
  }
  cublasLtDestroy(handle_);
}

// cublasLt counts columns first: it is asked for the transposed product, whose factors change places.
TiledProducts::Plan TiledProducts::plan(const TiledProduct& product, size_t workspace_bytes) const {
  Plan plan;
  const cublasOperation_t of_b = product.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  check(cublasLtMatmulDescCreate(&plan.product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product");
  check(cublasLtMatmulDescSetAttribute(plan.product, CUBLASLT_MATMUL_DESC_TRANSA, &of_b, sizeof(of_b)), "a factor");
  plan.a = layout(product.m, product.k, product.a_stride);
  plan.b = product.b_transposed ? layout(product.n, product.k, product.b_stride)
                                : layout(product.k, product.n, product.b_stride);
  plan.c = layout(product.m, product.n, product.c_stride);
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "a preference");
  check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                             sizeof(workspace_bytes)),
        "a preference");
  std::array<cublasLtMatmulHeuristicResult_t, kOffered> offered;
  int count = 0;
  // An answer that there is none is not a fault.
  if (cublasLtMatmulAlgoGetHeuristic(handle_, plan.product, plan.b, plan.a, plan.c, plan.c, preference, kOffered,
                                     offered.data(), &count) != CUBLAS_STATUS_SUCCESS)
    count = 0;
  cublasLtMatmulPreferenceDestroy(preference);
  for (int place = 0; place < count && !plan.algorithm; ++place) {
    const cublasLtMatmulAlgo_t& algorithm = offered[static_cast<size_t>(place)].algo;
    // The inner side is not split: sums keep the order that every other algorithm has.
    if (field_of<uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID) == kTile &&
        field_of<int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) <= 1)
      plan.algorithm = algorithm;
  }
  return plan;
}

bool TiledProducts::run(const TiledProduct& product, const void* a, const void* b, void* c, void* workspace,
                        size_t workspace_bytes, cudaStream_t stream) {
  auto found = plans_.find(product);
  if (found == plans_.end()) found = plans_.emplace(product, plan(product, workspace_bytes)).first;
  const Plan& plan = found->second;
  if (!plan.algorithm) return false;
  const float one = 1, zero = 0;
  check(cublasLtMatmul(handle_, plan.product, &one, b, plan.b, a, plan.a, &zero, c, plan.c, c, plan.c, &*plan.algorithm,
                       workspace, workspace_bytes, stream),
        "product");
  return true;
}

}  // namespace lengthwise
