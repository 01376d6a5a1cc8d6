#include "core/device_gate.h"

namespace lengthwise {

DeviceGate& device_gate() {
  static DeviceGate gate;
  return gate;
}

}  // namespace lengthwise
