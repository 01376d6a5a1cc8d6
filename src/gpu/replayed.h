#pragma once
/// A step that is launched piece by piece the first time, which also loads its kernels, captured the second, and
/// replayed from then on; what cannot be captured is launched every time.
#include <memory>
#include <optional>

#include "gpu/captured_graph.h"
#include "gpu/gated.h"

namespace lengthwise {

class Replayed {
 public:
  /// Whether there is a graph, which is captured now if `launch` was launched before. The device's gate must be free.
  /// `pool`: none is one of its own.
  template <class Launch>
  bool ready(cudaStream_t stream, const Launch& launch, std::optional<CapturedGraph::Pool> pool = std::nullopt) {
    if (!graph_ && launched_ && capturable_) {
      const std::unique_lock alone(device_gate());
      graph_ = CapturedGraph::if_possible(stream, launch, pool ? *pool : CapturedGraph::new_pool());
      capturable_ = graph_ != nullptr;
    }
    return graph_ != nullptr;
  }

  void replay() { graph_->replay(); }
  void was_launched() { launched_ = true; }

  bool captured() const { return graph_ != nullptr; }
  bool capturable() const { return capturable_; }  ///< as far as is known

 private:
  bool launched_ = false;
  bool capturable_ = true;
  std::unique_ptr<CapturedGraph> graph_;
};

}  // namespace lengthwise
