// Launches that are captured and replayed, and those that cannot be.
#include "gpu/captured_graph.h"

#include <c10/cuda/CUDAStream.h>

#include "tests/gpu/gpu_run.h"

namespace lengthwise {
namespace {

class GpuCapture : public testing_gpu::GpuTest {
 protected:
  static cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }
};

TEST_F(GpuCapture, ReplaysWhatWasLaunched) {
  at::Tensor count = at::zeros({1}, at::TensorOptions(at::kCUDA).dtype(at::kLong));
  const auto launch = [&] { count.add_(1); };
  launch();  // loads the kernel
  const std::unique_ptr<CapturedGraph> graph = CapturedGraph::if_possible(stream(), launch);
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(count.item<int64_t>(), 1) << "capturing computes nothing";
  for (int i = 0; i < 3; ++i) graph->replay();
  EXPECT_EQ(count.item<int64_t>(), 4);
}

TEST_F(GpuCapture, WhatCopiesFromTheHostIsNotCapturedAndHarmsNothing) {
  const at::Tensor on_host = at::ones({4});
  at::Tensor sum = at::zeros({4}, at::kCUDA);
  const auto launch = [&] { sum.add_(on_host.to(at::kCUDA)); };
  launch();
  EXPECT_EQ(CapturedGraph::if_possible(stream(), launch), nullptr);
  launch();
  EXPECT_EQ(sum.sum().item<float>(), 8);
  const std::unique_ptr<CapturedGraph> graph = CapturedGraph::if_possible(stream(), [&] { sum.mul_(2); });
  ASSERT_NE(graph, nullptr);
  graph->replay();
  EXPECT_EQ(sum.sum().item<float>(), 16);
}

}  // namespace
}  // namespace lengthwise
