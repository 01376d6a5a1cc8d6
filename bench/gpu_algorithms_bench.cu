// Time and energy of every algorithm that cublasLt offers for the products of a training step of `base`: with two runs
// at once the chip is at the limit of its power, and the algorithm that needs the least energy is then the fastest.
//
// Prints one JSON object a line: for each product and algorithm what twelve of it take, one for each layer, from
// memory.
#include <cublasLt.h>

#include "bench/gpu_energy.cuh"

namespace lengthwise::gpu {
namespace {

constexpr int64_t kRows = 1920;
constexpr size_t kLayers = 12;
constexpr int kOffered = 10;
constexpr size_t kWorkspace = 32 << 20;
constexpr double kSeconds = 0.7;

void check_lt(cublasStatus_t status) {
  require(status == CUBLAS_STATUS_SUCCESS, "cublasLt failed");
}

/// Row-major: c [m, n] = a b, where a is [m, k] or, transposed, [k, m], and b is [k, n] or [n, k].
struct ProductShape {
  const char* name;
  int64_t m, n, k;
  bool a_transposed, b_transposed;
};

constexpr ProductShape kShapes[] = {
    {"queries, keys, values", kRows, 3 * kWidth, kWidth, false, false},
    {"attention's result", kRows, kWidth, kWidth, false, false},
    {"feed-forward, out", kRows, kWidth, kHidden, false, false},
    {"back through queries, keys, values", kRows, kWidth, 3 * kWidth, false, true},
    {"back through attention's result", kRows, kWidth, kWidth, false, true},
    {"back through feed-forward, in", kRows, kWidth, kHidden, false, true},
    {"weights of queries, keys, values", kWidth, 3 * kWidth, kRows, true, false},
    {"weights of attention's result", kWidth, kWidth, kRows, true, false},
    {"weights of feed-forward, in", kWidth, kHidden, kRows, true, false},
    {"weights of feed-forward, out", kHidden, kWidth, kRows, true, false},
};

/// The compiler of CUDA 13.0 fails over vectors of cublasLt's own type, which has no name.
struct Algorithm {
  cublasLtMatmulAlgo_t value;
};

/// cublasLt counts columns first: it is asked for the transposed product, whose factors change places.
class Product {
 public:
  explicit Product(const ProductShape& shape) : shape_(shape) {
    const cublasOperation_t of_b = shape.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t of_a = shape.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check_lt(cublasLtCreate(&handle_));
    check_lt(cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    check_lt(cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_TRANSA, &of_b, sizeof(of_b)));
    check_lt(cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_TRANSB, &of_a, sizeof(of_a)));
    b_ = layout(shape.b_transposed ? shape.n : shape.k, shape.b_transposed ? shape.k : shape.n);
    a_ = layout(shape.a_transposed ? shape.k : shape.m, shape.a_transposed ? shape.m : shape.k);
    c_ = layout(shape.m, shape.n);
    for (size_t i = 0; i < kLayers; ++i) {
      left_.push_back(random_halves(shape.m * shape.k));
      right_.push_back(random_halves(shape.k * shape.n, 0.03f));
      result_.push_back(random_halves(shape.m * shape.n));
    }
    workspace_ = allocate<char>(kWorkspace);
  }
  ~Product() {
    for (const auto* kind : {&left_, &right_, &result_}) {
      for (void* matrix : *kind) cudaFree(matrix);
    }
    cudaFree(workspace_);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  std::vector<Algorithm> offered() const {
    cublasLtMatmulPreference_t preference;
    check_lt(cublasLtMatmulPreferenceCreate(&preference));
    check_lt(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                                  sizeof(kWorkspace)));
    cublasLtMatmulHeuristicResult_t results[kOffered];
    int count = 0;
    check_lt(cublasLtMatmulAlgoGetHeuristic(handle_, product_, b_, a_, c_, c_, preference, kOffered, results, &count));
    cublasLtMatmulPreferenceDestroy(preference);
    std::vector<Algorithm> algorithms;
    for (int i = 0; i < count; ++i) algorithms.push_back({results[i].algo});
    return algorithms;
  }

  void run_all(const Algorithm& algorithm) const {
    const float one = 1, zero = 0;
    for (size_t i = 0; i < kLayers; ++i) {
      check_lt(cublasLtMatmul(handle_, product_, &one, right_[i], b_, left_[i], a_, &zero, result_[i], c_, result_[i],
                              c_, &algorithm.value, workspace_, kWorkspace, stream));
    }
  }

 private:
  static cublasLtMatrixLayout_t layout(int64_t rows, int64_t columns) {
    cublasLtMatrixLayout_t made;
    check_lt(cublasLtMatrixLayoutCreate(&made, CUDA_R_16BF, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                        columns));
    return made;
  }

  ProductShape shape_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::vector<void*> left_, right_, result_;
  char* workspace_ = nullptr;
};

template <class T>
int attribute(const Algorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t which) {
  T value = 0;
  size_t written = 0;
  cublasLtMatmulAlgoConfigGetAttribute(&algorithm.value, which, &value, sizeof(value), &written);
  return static_cast<int>(value);
}

void run() {
  check_cuda(cudaStreamCreate(&stream), "stream");
  Spent first{}, least{};
  for (const ProductShape& shape : kShapes) {
    const Product product(shape);
    Spent best{0, 0, 1e9};
    int place = 0;
    for (const Algorithm& algorithm : product.offered()) {
      const Spent spent = spend([&] { product.run_all(algorithm); }, kSeconds);
      std::printf(
          "{\"name\": \"%s\", \"figure\": %.1f, \"unit\": \"us\", \"better\": \"lower\", \"watts\": %.0f, \"joules\": "
          "%.4f, \"place\": %d, \"algorithm\": %d, \"tile\": %d, \"stages\": %d, \"split\": %d, \"cluster\": %d}\n",
          shape.name, spent.microseconds, spent.watts, spent.joules, place,
          attribute<int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID),
          attribute<uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
          attribute<uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
          attribute<int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
          attribute<uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
      std::fflush(stdout);
      if (place++ == 0) first = {first.microseconds + spent.microseconds, 0, first.joules + spent.joules};
      if (spent.joules < best.joules) best = spent;
    }
    least = {least.microseconds + best.microseconds, 0, least.joules + best.joules};
  }
  for (const auto& [name, sum] : {std::pair{"all, first choice", first}, std::pair{"all, least energy", least}}) {
    std::printf("{\"name\": \"%s\", \"figure\": %.1f, \"unit\": \"us\", \"better\": \"lower\", \"joules\": %.4f}\n",
                name, sum.microseconds, sum.joules);
  }
}

}  // namespace
}  // namespace lengthwise::gpu

int main() {
  lengthwise::gpu::run();
}
