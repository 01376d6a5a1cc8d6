#pragma once
/// Launches on a stream, captured once and replayed as a whole.
///
/// Tensors that are made while capturing come from a pool of the graph's own and stay reserved for its replays. Threads
/// may capture and replay at the same time, each on its own stream; torch's own class shares the state of its random
/// generator among all of them and must not be used so.
#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <utility>

namespace lengthwise {

class CapturedGraph {
 public:
  /// Captures what `launch` does on the stream, which must not be the default one.
  CapturedGraph(cudaStream_t stream, const std::function<void()>& launch);
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void replay();

  /// The same, or nullptr when something in `launch` cannot be captured.
  static std::unique_ptr<CapturedGraph> if_possible(cudaStream_t stream, const std::function<void()>& launch);

 private:
  cudaStream_t stream_;
  std::pair<unsigned long long, unsigned long long> pool_;  ///< as torch names its pools
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace lengthwise
