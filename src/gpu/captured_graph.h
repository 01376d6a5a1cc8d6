#pragma once
/// Launches on a stream, captured once and replayed as a whole.
///
/// Tensors that are made while capturing come from a pool of the graph's own, or of several that take turns, and stay
/// reserved for its replays. Threads
/// may capture and replay at the same time, each on its own stream; torch's own class shares the state of its random
/// generator among all of them and must not be used so.
#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <utility>

namespace lengthwise {

class CapturedGraph {
 public:
  using Pool = std::pair<unsigned long long, unsigned long long>;  ///< as torch names its pools

  /// A pool for graphs that are replayed one after the other and leave nothing in it for the next.
  static Pool new_pool();

  /// Captures what `launch` does on the stream, which must not be the default one.
  CapturedGraph(cudaStream_t stream, const std::function<void()>& launch, Pool pool = new_pool());
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void replay();

  /// The same, or nullptr when something in `launch` cannot be captured.
  static std::unique_ptr<CapturedGraph> if_possible(cudaStream_t stream, const std::function<void()>& launch,
                                                    Pool pool = new_pool());

 private:
  cudaStream_t stream_;
  Pool pool_;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace lengthwise
