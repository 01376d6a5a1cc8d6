#include "core/device_gate.h"

namespace lengthwise {

std::shared_mutex& device_gate() {
  static std::shared_mutex gate;
  return gate;
}

}  // namespace lengthwise
