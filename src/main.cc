#include <csignal>
#include <exception>
#include <iostream>

#include "cli/app.h"
#include "core/error.h"
#include "core/refused.h"

int main(int argc, char** argv) {
  constexpr int kUsersMistake = 2;
  constexpr int kOurBug = 70;  // EX_SOFTWARE of sysexits.h
  // A limit on the size of files (`ulimit -f`) is an error of the write, like a full disk, and not death.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return lengthwise::run(argc, argv);
  } catch (const lengthwise::UserError& error) {
    std::cout.flush();
    std::cerr << "lengthwise: " << lengthwise::message_of(error) << '\n';
    return kUsersMistake;
  } catch (const std::exception& error) {
    const std::string refused = lengthwise::refused_by_machine(error);
    std::cout.flush();
    std::cerr << "lengthwise: " << (refused.empty() ? "internal error: " + lengthwise::message_of(error) : refused)
              << '\n';
    return refused.empty() ? kOurBug : kUsersMistake;
  }
}
