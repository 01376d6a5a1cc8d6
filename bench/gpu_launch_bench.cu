/// How fast kernels can be started when they do nothing: what several runs at once cannot go below.
#include <chrono>
#include <thread>

#include "bench/gpu_bench.cuh"
#include "gpu_kernels/launch.cuh"

namespace lengthwise::gpu {
namespace {

__global__ void nothing() {
  begin();
}

/// A stream of its own and a graph of kernels one after the other, as one training run has.
struct Chain {
  explicit Chain(int kernels) {
    check_cuda(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), "stream");
    exec = capture(own, [&] {
      for (int i = 0; i < kernels; ++i) launch("nothing", nothing, dim3(32), dim3(128), 0, own);
    });
    replay(20);
    check_cuda(cudaStreamSynchronize(own), "run");
  }
  void replay(int times) const {
    for (int i = 0; i < times; ++i) check_cuda(cudaGraphLaunch(exec, own), "replay");
  }

  cudaStream_t own{};
  cudaGraphExec_t exec{};
};

/// Microseconds a kernel, of all chains together.
void bench_chains(int chains, int kernels, bool threads) {
  std::vector<Chain> all;
  for (int i = 0; i < chains; ++i) all.emplace_back(kernels);
  const int times = 24000 / kernels;
  const auto start = std::chrono::steady_clock::now();
  if (threads) {
    std::vector<std::jthread> workers;
    for (const Chain& chain : all) {
      workers.emplace_back([&chain, times] {
        chain.replay(times);
        check_cuda(cudaStreamSynchronize(chain.own), "run");
      });
    }
  } else {
    for (int i = 0; i < times; ++i) {
      for (const Chain& chain : all) chain.replay(1);
    }
    check_cuda(cudaDeviceSynchronize(), "run");
  }
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  const std::string name = "an empty kernel, graphs of " + std::to_string(kernels) + " in " + std::to_string(chains) +
                           (chains == 1 ? " stream" : " streams") + (threads ? "" : ", one thread for all");
  print(name, taken.count() / (static_cast<double>(times) * kernels * chains), 0);
}

}  // namespace

void bench_launches() {
  for (const int kernels : {60, 240}) {
    for (const int chains : {1, 2, 4, 8, 16}) bench_chains(chains, kernels, true);
    bench_chains(8, kernels, false);
  }
}

}  // namespace lengthwise::gpu
