#pragma once
/// Time and energy of what is replayed on a GPU, by the counter of its board.
#include <dlfcn.h>

#include <chrono>

#include "bench/gpu_bench.cuh"

namespace lengthwise::gpu {

/// Joules since the board was started; 0 where its library is not there.
inline double joules() {
  using Counter = int (*)(void*, unsigned long long*);
  static void* board = nullptr;
  static const Counter counter = []() -> Counter {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return nullptr;
    const auto start = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    const auto find = reinterpret_cast<int (*)(unsigned, void**)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
    if (start == nullptr || find == nullptr || start() != 0 || find(0, &board) != 0) return nullptr;
    return reinterpret_cast<Counter>(dlsym(library, "nvmlDeviceGetTotalEnergyConsumption"));
  }();
  unsigned long long millijoules = 0;
  if (counter != nullptr) counter(board, &millijoules);
  return 1e-3 * static_cast<double>(millijoules);
}

struct Spent {
  double microseconds, watts, joules;  ///< of one replay; on average
};

/// Replays the body's graph for `seconds`, after a while in which the clock settles; the counter moves some ten times a
/// second.
inline Spent spend(const std::function<void()>& body, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  cudaGraphExec_t exec = run_and_capture(body);
  const auto replay_for = [&](double length) {
    const auto start = Clock::now();
    int count = 0;
    for (; since(start) < length; count += 20) {
      for (int i = 0; i < 20; ++i) check_cuda(cudaGraphLaunch(exec, stream), "replay");
      check_cuda(cudaStreamSynchronize(stream), "replay");
    }
    return count;
  };
  replay_for(0.4 * seconds);
  const double before = joules();
  const auto start = Clock::now();
  const int count = replay_for(seconds);
  const double took = since(start);
  const double spent = joules() - before;
  cudaGraphExecDestroy(exec);
  return {1e6 * took / count, spent / took, spent / count};
}

/// `more`: further fields of the JSON object.
inline void print(const std::string& name, const Spent& spent, const std::string& more = "") {
  std::printf(
      "{\"name\": \"%s\", \"figure\": %.1f, \"unit\": \"us\", \"better\": \"lower\", \"watts\": %.0f, "
      "\"joules\": %.4f%s}\n",
      name.c_str(), spent.microseconds, spent.watts, spent.joules, more.c_str());
  std::fflush(stdout);
}

inline void measure_energy(const std::string& name, const std::function<void()>& body) {
  print(name + ", a step", spend(body, 1.6));
}

}  // namespace lengthwise::gpu
