#include "gpu/captured_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "gpu_kernels/launch.h"

namespace lengthwise {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

}  // namespace

CapturedGraph::Pool CapturedGraph::new_pool() {
  return at::cuda::graph_pool_handle();
}

CapturedGraph::CapturedGraph(cudaStream_t stream, const std::function<void()>& launch, Pool pool)
    : stream_(stream), pool_(pool) {
  const c10::DeviceIndex device = c10::cuda::current_device();
  allocator::beginAllocateToPool(device, pool_, [stream](cudaStream_t other) { return other == stream; });
  cudaGraph_t graph = nullptr;
  gpu::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "the beginning of a capture");
  try {
    launch();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();  // what the end of a broken capture reports is not the next call's fault
    allocator::endAllocateToPool(device, pool_);
    allocator::releasePool(device, pool_);
    throw;
  }
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  allocator::endAllocateToPool(device, pool_);
  gpu::check_cuda(ended, "the end of a capture");
  const cudaError_t made = cudaGraphInstantiate(&exec_, graph, 0);
  cudaGraphDestroy(graph);
  gpu::check_cuda(made, "making a graph");
}

std::unique_ptr<CapturedGraph> CapturedGraph::if_possible(cudaStream_t stream, const std::function<void()>& launch,
                                                          Pool pool) {
  try {
    return std::make_unique<CapturedGraph>(stream, launch, pool);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error&) {
    return nullptr;
  }
}

CapturedGraph::~CapturedGraph() {
  cudaStreamSynchronize(stream_);
  if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
  allocator::releasePool(c10::cuda::current_device(), pool_);
}

void CapturedGraph::replay() {
  gpu::check_cuda(cudaGraphLaunch(exec_, stream_), "replaying a graph");
}

}  // namespace lengthwise
