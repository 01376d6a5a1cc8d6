// Time and energy of every algorithm that cublasLt offers for the products of a training step of `base`: with two runs
// at once the chip is at the limit of its power, and the algorithm that needs the least energy is then the fastest.
//
//     gpu_algorithms_bench [ROWS]               rows of a batch, 1,920 without it; a batch of text has 32,768
//     gpu_algorithms_bench ROWS VOCABULARY      the head's three products instead, for so many rows of targets
//
// Prints one JSON object a line: for each product and algorithm what twelve of it take, one for each layer, from
// memory; of the head's, what one takes.
#include <cublasLt.h>

#include "bench/gpu_energy.cuh"

namespace lengthwise::gpu {
namespace {

constexpr int kOffered = 10;
constexpr size_t kWorkspace = 32 << 20;
constexpr double kSeconds = 0.7, kSecondsOfHead = 0.1;

void check_lt(cublasStatus_t status) {
  require(status == CUBLAS_STATUS_SUCCESS, "cublasLt failed");
}

/// Row-major: c [m, n] = a b, where a is [m, k] or, transposed, [k, m], and b is [k, n] or [n, k]. `float_result`: c is
/// stored in float. Rows begin at multiples of 8 elements.
struct ProductShape {
  const char* name;
  int64_t m, n, k;
  bool a_transposed, b_transposed;
  bool float_result = false;
};

std::vector<ProductShape> shapes(int64_t rows) {
  return {
      {"queries, keys, values", rows, 3 * kWidth, kWidth, false, false},
      {"attention's result", rows, kWidth, kWidth, false, false},
      {"feed-forward, out", rows, kWidth, kHidden, false, false},
      {"back through queries, keys, values", rows, kWidth, 3 * kWidth, false, true},
      {"back through attention's result", rows, kWidth, kWidth, false, true},
      {"back through feed-forward, in", rows, kWidth, kHidden, false, true},
      {"weights of queries, keys, values", kWidth, 3 * kWidth, rows, true, false},
      {"weights of attention's result", kWidth, kWidth, rows, true, false},
      {"weights of feed-forward, in", kWidth, kHidden, rows, true, false},
      {"weights of feed-forward, out", kHidden, kWidth, rows, true, false},
  };
}

/// From the last norm to logits, and back; once more with the columns that fill a row of logits up, which are zeros.
std::vector<ProductShape> head_shapes(int64_t rows, int64_t vocabulary) {
  const int64_t padded = (vocabulary + 7) / 8 * 8;
  return {
      {"logits", rows, vocabulary, kWidth, false, true, true},
      {"logits, filled up", rows, padded, kWidth, false, true, true},
      {"back through logits", rows, kWidth, vocabulary, false, false},
      {"back through logits, filled up", rows, kWidth, padded, false, false},
      {"the embedding's gradient", vocabulary, kWidth, rows, true, false, true},
      {"the embedding's gradient, filled up", padded, kWidth, rows, true, false, true},
      {"the embedding's gradient, bfloat16", padded, kWidth, rows, true, false},
  };
}

/// The compiler of CUDA 13.0 fails over vectors of cublasLt's own type, which has no name.
struct Algorithm {
  cublasLtMatmulAlgo_t value;
};

/// cublasLt counts columns first: it is asked for the transposed product, whose factors change places.
class Product {
 public:
  Product(const ProductShape& shape, int64_t copies) {
    const cublasOperation_t of_b = shape.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t of_a = shape.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check_lt(cublasLtCreate(&handle_));
    check_lt(cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    check_lt(cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_TRANSA, &of_b, sizeof(of_b)));
    check_lt(cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_TRANSB, &of_a, sizeof(of_a)));
    b_ = layout(shape.b_transposed ? shape.n : shape.k, shape.b_transposed ? shape.k : shape.n);
    a_ = layout(shape.a_transposed ? shape.k : shape.m, shape.a_transposed ? shape.m : shape.k);
    c_ = layout(shape.m, shape.n, shape.float_result ? CUDA_R_32F : CUDA_R_16BF);
    const auto size = [](int64_t rows, int64_t columns) { return (rows + 8) * (columns + 8); };
    for (int64_t i = 0; i < copies; ++i) {
      left_.push_back(random_halves(size(shape.m, shape.k)));
      right_.push_back(random_halves(size(shape.k, shape.n), 0.03f));
      result_.push_back(random_halves(size(shape.m, shape.n) * (shape.float_result ? 2 : 1)));
    }
    workspace_ = allocate<char>(kWorkspace);
  }
  ~Product() {
    for (const auto* kind : {&left_, &right_, &result_}) {
      for (void* matrix : *kind) cudaFree(matrix);
    }
    cudaFree(workspace_);
    for (cublasLtMatrixLayout_t made : {a_, b_, c_}) cublasLtMatrixLayoutDestroy(made);
    cublasLtMatmulDescDestroy(product_);
    cublasLtDestroy(handle_);
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
    for (size_t i = 0; i < left_.size(); ++i) {
      check_lt(cublasLtMatmul(handle_, product_, &one, right_[i], b_, left_[i], a_, &zero, result_[i], c_, result_[i],
                              c_, &algorithm.value, workspace_, kWorkspace, stream));
    }
  }

 private:
  static cublasLtMatrixLayout_t layout(int64_t rows, int64_t columns, cudaDataType_t type = CUDA_R_16BF) {
    cublasLtMatrixLayout_t made;
    check_lt(cublasLtMatrixLayoutCreate(&made, type, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                        (columns + 7) / 8 * 8));
    return made;
  }

  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::vector<void*> left_, right_, result_;
  char* workspace_ = nullptr;
};

/// What an algorithm is, as fields of a JSON object.
std::string fields_of(const Algorithm& algorithm, int place) {
  std::string text = ", \"place\": " + std::to_string(place);
  const auto add = [&](const char* name, cublasLtMatmulAlgoConfigAttributes_t which, auto value) {
    size_t written = 0;
    check_lt(cublasLtMatmulAlgoConfigGetAttribute(&algorithm.value, which, &value, sizeof(value), &written));
    text += ", \"" + std::string(name) + "\": " + std::to_string(value);
  };
  add("algorithm", CUBLASLT_ALGO_CONFIG_ID, int32_t{});
  add("tile", CUBLASLT_ALGO_CONFIG_TILE_ID, uint32_t{});
  add("stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, uint32_t{});
  add("split", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, int32_t{});
  add("cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, uint16_t{});
  return text;
}

Spent sum(const Spent& one, const Spent& other) {
  const double microseconds = one.microseconds + other.microseconds, joules = one.joules + other.joules;
  return {microseconds, 1e6 * joules / microseconds, joules};
}

void run(const std::vector<ProductShape>& shapes, int64_t copies, double seconds) {
  check_cuda(cudaStreamCreate(&stream), "stream");
  Spent first{}, least{};
  for (const ProductShape& shape : shapes) {
    const Product product(shape, copies);
    std::vector<Spent> all;
    for (const Algorithm& algorithm : product.offered()) {
      all.push_back(spend([&] { product.run_all(algorithm); }, seconds));
      print(shape.name, all.back(), fields_of(algorithm, static_cast<int>(all.size()) - 1));
    }
    require(!all.empty(), "cublasLt offers nothing");
    first = sum(first, all.front());
    least = sum(least, *std::min_element(all.begin(), all.end(),
                                         [](const Spent& a, const Spent& b) { return a.joules < b.joules; }));
  }
  print("all, first choice", first);
  print("all, least energy", least);
}

}  // namespace
}  // namespace lengthwise::gpu

int main(int count, char** arguments) {
  namespace gpu = lengthwise::gpu;
  const int64_t rows = count > 1 ? std::stoll(arguments[1]) : gpu::kRows;
  if (count > 2) {
    gpu::run(gpu::head_shapes(rows, std::stoll(arguments[2])), 1, gpu::kSecondsOfHead);
  } else {
    gpu::run(gpu::shapes(rows), gpu::kLayers, gpu::kSeconds);
  }
}
