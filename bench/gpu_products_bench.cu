// The products of a feed-forward layer with the rectifier inside, beside cuBLAS and the rectifier as kernels of their
// own, at several numbers of rows; the other forward products with their weights as they lie and turned; then time and
// energy of everything that a training step of `base` is made of, by the counter of the board.
//
// Prints one JSON object a line. Energy takes two seconds for each part.
#include <cublas_v2.h>

#include <cstring>

#include "bench/gpu_energy.cuh"
#include "gpu_kernels/rectified_product.h"
#include "gpu_kernels/relu.h"
#include "gpu_kernels/split_values.h"

namespace lengthwise::gpu {
namespace {

/// Row-major products of bfloat16 matrices.
class Products {
 public:
  Products() {
    cublasCreate(&handle_);
    cublasSetStream(handle_, stream);
    cublasSetWorkspace(handle_, allocate<char>(kWorkspace), kWorkspace);
  }

  /// c [m, n] = a b, where a is [m, k] or, transposed, [k, m], and b is [k, n] or [n, k].
  void run(int64_t m, int64_t n, int64_t k, const void* a, bool a_transposed, const void* b, bool b_transposed,
           void* c) const {
    const float one = 1, zero = 0;
    const auto narrow = [](int64_t value) { return static_cast<int>(value); };
    require(cublasGemmEx(handle_, b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                         narrow(n), narrow(m), narrow(k), &one, b, CUDA_R_16BF, narrow(b_transposed ? k : n), a,
                         CUDA_R_16BF, narrow(a_transposed ? m : k), &zero, c, CUDA_R_16BF, narrow(n),
                         CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS,
            "a product failed");
  }

 private:
  static constexpr int64_t kWorkspace = 32 << 20;
  cublasHandle_t handle_ = nullptr;
};

/// What a step reads and writes: for every layer one matrix of each kind.
struct Matrices {
  std::vector<void*> x, weights, hidden, d_hidden;

  Matrices(int64_t rows, int64_t layers) {
    for (int64_t i = 0; i < layers; ++i) {
      x.push_back(random_halves(rows * kWidth));
      weights.push_back(random_halves(kWidth * kHidden, 0.03f));
      hidden.push_back(random_halves(rows * kHidden));
      d_hidden.push_back(random_halves(rows * kHidden));
    }
  }
  ~Matrices() {
    for (const auto* kind : {&x, &weights, &hidden, &d_hidden}) {
      for (void* matrix : *kind) cudaFree(matrix);
    }
  }
};

void bench_rectified(const Products& products, int64_t rows) {
  const int64_t layers = rows > 4096 ? 3 : kLayers;
  const Matrices all(rows, layers);
  const DropoutArgs drops = dropout(3, 1);
  const auto each = [&](const std::string& name, const std::function<void(size_t)>& body) {
    const double microseconds = time_graph(static_cast<int>(layers), [&] {
      for (int64_t i = 0; i < layers; ++i) body(static_cast<size_t>(i));
    });
    print(name + ", " + std::to_string(rows) + " rows", microseconds, 0);
  };
  const auto forward = [&](size_t i) {
    products.run(rows, kHidden, kWidth, all.x[i], false, all.weights[i], false, all.hidden[i]);
  };
  const auto backward = [&](size_t i) {
    products.run(rows, kHidden, kWidth, all.x[i], false, all.weights[i], true, all.d_hidden[i]);
  };
  each("forward, cuBLAS alone", forward);
  each("forward, cuBLAS and the rectifier", [&](size_t i) {
    forward(i);
    relu_dropout_forward(kBf16, all.hidden[i], rows, kHidden, drops, stream);
  });
  each("backward, cuBLAS alone", backward);
  each("backward, cuBLAS and the rectifier", [&](size_t i) {
    backward(i);
    relu_dropout_backward(kBf16, all.hidden[i], all.d_hidden[i], rows, kHidden, drops, stream);
  });
  if (!rectified_products_exist(kBf16, kWidth, kHidden)) return;
  each("forward, one kernel", [&](size_t i) {
    rectified_product(all.x[i], all.weights[i], all.hidden[i], rows, kWidth, kHidden, drops, stream);
  });
  each("backward, one kernel", [&](size_t i) {
    rectified_product_backward(all.x[i], all.weights[i], all.hidden[i], all.d_hidden[i], rows, kWidth, kHidden, drops,
                               stream);
  });
}

/// The forward products without a rectifier, with weights as they lie and turned, beside the kernel with the rectifier
/// inside, which is made of other parts; for as long as the clock needs to settle.
void measure_forward(const Products& products, int64_t rows) {
  const int64_t layers = rows > 4096 ? 3 : kLayers;
  const Matrices all(rows, layers);
  const auto each = [&](const std::string& name, const std::function<void(size_t)>& body) {
    const auto all_layers = [&] {
      for (size_t i = 0; i < all.x.size(); ++i) body(i);
    };
    print(name + ", " + std::to_string(rows) + " rows, " + std::to_string(layers) + " layers", spend(all_layers, 0.5));
  };
  struct Shape {
    const char* name;
    int64_t in, out;
  };
  for (const Shape& shape : {Shape{"queries, keys, values", kWidth, 3 * kWidth},
                             {"attention's result", kWidth, kWidth},
                             {"feed-forward, out", kHidden, kWidth}}) {
    const std::vector<void*>& x = shape.in == kHidden ? all.hidden : all.x;
    for (const bool turned : {false, true}) {
      each(std::string(shape.name) + (turned ? ", cuBLAS, turned" : ", cuBLAS"), [&](size_t i) {
        products.run(rows, shape.out, shape.in, x[i], false, all.weights[i], turned, all.d_hidden[i]);
      });
    }
    if (!rectified_products_exist(kBf16, shape.in, shape.out)) continue;
    each(std::string(shape.name) + ", with a rectifier inside", [&](size_t i) {
      rectified_product(x[i], all.weights[i], all.d_hidden[i], rows, shape.in, shape.out, {}, stream);
    });
  }
}

void measure_products(const Products& products) {
  const Matrices all(kRows, kLayers);
  void* c = allocate<__nv_bfloat16>(kHidden * kHidden);
  measure_energy("products, all by cuBLAS", [&] {
    for (size_t i = 0; i < static_cast<size_t>(kLayers); ++i) {
      const void *x = all.x[i], *w = all.weights[i], *hidden = all.hidden[i], *d_hidden = all.d_hidden[i];
      for (const int64_t out : {3 * kWidth, kWidth, kHidden}) {
        products.run(kRows, out, kWidth, x, false, w, false, c);        // queries, keys, values; their result; hidden
        products.run(kRows, kWidth, out, d_hidden, false, w, true, c);  // the way back through them
        products.run(kWidth, out, kRows, x, true, d_hidden, false, c);  // their weights' gradients
      }
      products.run(kRows, kWidth, kHidden, hidden, false, w, false, c);
      products.run(kRows, kHidden, kWidth, x, false, w, true, c);
      products.run(kHidden, kWidth, kRows, hidden, true, x, false, c);
    }
  });
  const DropoutArgs drops = dropout(3, 1);
  measure_energy("rectifier forward", [&] {
    for (void* hidden : all.hidden) relu_dropout_forward(kBf16, hidden, kRows, kHidden, drops, stream);
  });
  measure_energy("rectifier backward", [&] {
    for (size_t i = 0; i < all.hidden.size(); ++i) {
      relu_dropout_backward(kBf16, all.hidden[i], all.d_hidden[i], kRows, kHidden, drops, stream);
    }
  });
  cudaFree(c);
}

void measure_passes() {
  std::vector<AddNormForward> norms;
  std::vector<AddNormBackward> norms_back;
  std::vector<AttentionRun> attention;
  for (int64_t i = 0; i < kLayers; ++i) {
    norms.push_back(norm_forward(kRows, 1));
    add_norm_forward(norms.back(), stream);
    norms_back.push_back(
        norm_backward(norms.back(), random_floats(kRows * kWidth), allocate<float>(add_norm_parts(kRows) * kWidth)));
    attention.emplace_back(Shape{64, 30}, false, 0, 0.1);
    attention_forward(attention.back().args, attention.back().out, attention.back().log_sum, stream);
  }
  const auto twice = [](const auto& all, const auto& body) {
    for (int turn = 0; turn < 2; ++turn) {
      for (const auto& one : all) body(one);
    }
  };
  measure_energy("residual + dropout + norm forward",
                 [&] { twice(norms, [](const AddNormForward& args) { add_norm_forward(args, stream); }); });
  measure_energy("residual + dropout + norm backward",
                 [&] { twice(norms_back, [](const AddNormBackward& args) { add_norm_backward(args, stream); }); });
  measure_energy("attention forward", [&] {
    for (const AttentionRun& run : attention) attention_forward(run.args, run.out, run.log_sum, stream);
  });
  measure_energy("attention backward", [&] {
    for (const AttentionRun& run : attention) attention_backward(run.args, run.gradients, stream);
  });
}

void measure_optimizer() {
  constexpr int64_t kParameters = 85'000'000, kLayer = kParameters / kLayers / 8 * 8;
  Optimizer args = optimizer_args(kParameters, upload(std::vector<StepState>(1)));
  measure_energy("optimizer, float gradients", [&] { optimizer_step(args, stream); });
  auto* rounded = static_cast<__nv_bfloat16*>(random_halves(kParameters, 1e-3f));
  auto* squares = allocate<double>(kLayers * kSquareBlocks);
  args.rounded_gradients = rounded;
  args.rounded = args.squared = kParameters;
  args.squares = squares;
  args.square_count = kLayers * kSquareBlocks;
  measure_energy("optimizer, bfloat16 gradients", [&] { optimizer_step(args, stream); });
  args.low = allocate<uint16_t>(kParameters);
  split_values(args.values, kParameters, args.mirror, args.low, stream);
  measure_energy("optimizer, bfloat16 gradients and split weights", [&] { optimizer_step(args, stream); });
  measure_energy("squares of gradients", [&] {
    for (int64_t i = 0; i < kLayers; ++i) {
      gradient_squares(rounded + i * kLayer, kLayer, squares + i * kSquareBlocks, stream);
    }
  });
}

void run(bool energy) {
  check_cuda(cudaStreamCreate(&stream), "stream");
  seed = upload(std::vector<uint64_t>{12345});
  const Products products;
  for (const int64_t rows : {1792, 1920, 2048, 8192, 32768}) bench_rectified(products, rows);
  for (const int64_t rows : {1920, 32768}) measure_forward(products, rows);
  if (!energy) return;
  measure_energy("nothing", [] { random_kernel<<<1, 32, 0, stream>>>(nullptr, nullptr, 0, 1); });
  measure_products(products);
  measure_passes();
  measure_optimizer();
}

}  // namespace
}  // namespace lengthwise::gpu

int main(int count, char** words) {
  lengthwise::gpu::run(count == 1 || std::strcmp(words[1], "--quick") != 0);
}
