#include <iostream>

#include "tasks/registry.h"

int main() {
  using namespace lengthwise;
  for (const auto& task : tasks()) {
    Style style;
    from_text("full", style.scratchpad);
    Example e;
    for (const Bin& bin : task->plan(task->info().train, 1000, Split::train)) {
      task->generate({bin, 0, Split::train, Rng(1).stream("x")}, style, e);
    }
    std::cout << e.prompt << "\n" << e.target << "\n" << (task->solve(e.prompt, style.scratchpad) == e.target) << "\n";
    std::cout << task->solve("Compute 9 5 + 7 ? ", style.scratchpad) << "\n" << task->solve("Compute: 5 3 7 2 6 + 1 9 1 7 ?", {}) << "\n";
  }
}
