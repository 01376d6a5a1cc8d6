#include "emulator.h"

#include <ucontext.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace lengthwise::emulator {
namespace {

constexpr size_t kStack = 256 * 1024;
constexpr size_t kMostShared = 232 * 1024;

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "emulated kernel: %s (block %u %u, thread %u)\n", what, blockIdx.x, blockIdx.y, threadIdx.x);
  std::abort();
}

#if defined(__x86_64__)
// swapcontext() asks the system for its signal mask every time; this is thirty times faster.
extern "C" void lengthwise_switch_fiber(void** save, void* load);
asm(R"(
.text
.globl lengthwise_switch_fiber
.type lengthwise_switch_fiber, @function
lengthwise_switch_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size lengthwise_switch_fiber, .-lengthwise_switch_fiber
)");

class Context {
 public:
  void start(unsigned char* stack, void (*entry)()) {
    auto** top = reinterpret_cast<void**>(stack + kStack);
    *--top = nullptr;  // keeps the stack aligned as after a call
    *--top = reinterpret_cast<void*>(entry);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    pointer_ = top;
  }
  void switch_to(Context& other) { lengthwise_switch_fiber(&pointer_, other.pointer_); }

 private:
  void* pointer_ = nullptr;
};
#else
class Context {
 public:
  void start(unsigned char* stack, void (*entry)()) {
    ::getcontext(&context_);
    context_.uc_stack.ss_sp = stack;
    context_.uc_stack.ss_size = kStack;
    context_.uc_link = nullptr;
    ::makecontext(&context_, entry, 0);
  }
  void switch_to(Context& other) { ::swapcontext(&context_, &other.context_); }

 private:
  ucontext_t context_{};
};
#endif

struct Copy {
  void* to;
  const void* from;
  size_t bytes;
  uint64_t group;
};

struct Fiber {
  Context context;
  std::unique_ptr<unsigned char[]> stack;
  bool done = false;
  std::vector<Copy> copies;  ///< under way, the oldest first
  uint64_t groups = 0;       ///< of copies that were committed
};

struct Warp {
  unsigned lanes = 0, gone = 0, arrived = 0;
  uint64_t generation = 0;
  alignas(16) unsigned char slots[2][32 * kSlot];
};

struct Machine {
  Context scheduler;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  const std::function<void()>* body = nullptr;
  unsigned current = 0, alive = 0, waiting = 0;
  uint64_t generation = 0;  ///< of the block's barrier
  alignas(1024) unsigned char shared[kMostShared];
};

Machine& machine() {
  static Machine the_machine;
  return the_machine;
}

void yield() {
  Machine& m = machine();
  m.fibers[m.current].context.switch_to(m.scheduler);
}

void enter() {
  Machine& m = machine();
  (*m.body)();
  m.fibers[m.current].done = true;
  ++m.warps[m.current / 32].gone;
  --m.alive;
  yield();
  stop("a finished thread went on");
}

void run_block(unsigned threads) {
  Machine& m = machine();
  if (m.fibers.size() < threads) m.fibers.resize(threads);
  m.warps.assign((threads + 31) / 32, Warp{});
  m.alive = threads;
  m.waiting = 0;
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& fiber = m.fibers[t];
    if (fiber.stack == nullptr) fiber.stack = std::make_unique_for_overwrite<unsigned char[]>(kStack);
    fiber.done = false;
    fiber.copies.clear();
    fiber.groups = 0;
    fiber.context.start(fiber.stack.get(), enter);
    ++m.warps[t / 32].lanes;
  }
  while (m.alive > 0) {
    const unsigned alive = m.alive;
    const uint64_t generation = m.generation;
    uint64_t exchanges = 0;
    for (const Warp& warp : m.warps) exchanges += warp.generation;
    for (unsigned t = 0; t < threads; ++t) {
      if (m.fibers[t].done) continue;
      m.current = t;
      threadIdx = dim3(t, 0, 0);
      m.scheduler.switch_to(m.fibers[t].context);
    }
    // As on the device, threads that have ended count as arrived.
    if (m.alive > 0 && m.waiting == m.alive) {
      m.waiting = 0;
      ++m.generation;
    }
    for (const Warp& warp : m.warps) exchanges -= warp.generation;
    if (m.alive == alive && m.generation == generation && exchanges == 0) stop("the threads wait for each other");
  }
}

}  // namespace

unsigned char* shared_memory() {
  return machine().shared;
}

void wait_for_block() {
  Machine& m = machine();
  const uint64_t generation = m.generation;
  ++m.waiting;
  while (m.generation == generation) yield();
}

void copy_later(void* to, const void* from, size_t bytes) {
  Fiber& fiber = machine().fibers[machine().current];
  std::memset(to, 0xff, bytes);
  fiber.copies.push_back({to, from, bytes, fiber.groups});
}

void commit_copies() {
  ++machine().fibers[machine().current].groups;
}

void wait_for_copies(uint64_t pending) {
  Fiber& fiber = machine().fibers[machine().current];
  auto copy = fiber.copies.begin();
  for (; copy != fiber.copies.end() && copy->group + pending < fiber.groups; ++copy) {
    copy->from != nullptr ? std::memcpy(copy->to, copy->from, copy->bytes) : std::memset(copy->to, 0, copy->bytes);
  }
  fiber.copies.erase(fiber.copies.begin(), copy);
}

const unsigned char* exchange(const void* mine, size_t bytes) {
  Machine& m = machine();
  Warp& warp = m.warps[m.current / 32];
  if (warp.gone > 0) stop("a warp-wide operation after a lane has ended");
  if (bytes > kSlot) stop("a lane gives more than a slot holds");
  const uint64_t generation = warp.generation;
  unsigned char* slots = warp.slots[generation % 2];
  if (bytes > 0) std::memcpy(slots + m.current % 32 * kSlot, mine, bytes);
  if (++warp.arrived == warp.lanes) {
    warp.arrived = 0;
    ++warp.generation;
  } else {
    while (warp.generation == generation) yield();
  }
  return slots;
}

void run(dim3 grid, dim3 block, size_t shared, const std::function<void()>& body) {
  Machine& m = machine();
  m.body = &body;
  gridDim = grid;
  blockDim = block;
  if (shared > 227 * 1024) stop("more shared memory than a multiprocessor has");
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = dim3(x, y, z);
        std::memset(m.shared, 0xff, shared);
        run_block(block.x);
      }
    }
  }
}

}  // namespace lengthwise::emulator
