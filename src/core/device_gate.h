#pragma once
/// Order among threads that share a GPU.
///
/// While one thread captures its launches into a graph, another must not load a kernel for the first time, wait for the
/// whole device (as the end of a library's handle does) or make such a handle: either would fail. Whoever launches
/// piece by piece holds the gate shared, in short turns; whoever captures holds it alone. Replaying a graph needs
/// nothing.
#include <shared_mutex>

namespace lengthwise {

std::shared_mutex& device_gate();

}  // namespace lengthwise
