#include <exception>
#include <iostream>

#include "cli/app.h"
#include "core/error.h"

int main(int argc, char** argv) {
  constexpr int kUsersMistake = 2;
  constexpr int kOurBug = 70;  // EX_SOFTWARE of sysexits.h
  try {
    return lengthwise::run(argc, argv);
  } catch (const lengthwise::UserError& error) {
    std::cout.flush();
    std::cerr << "lengthwise: " << lengthwise::message_of(error) << '\n';
    return kUsersMistake;
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "lengthwise: internal error: " << lengthwise::message_of(error) << '\n';
    return kOurBug;
  }
}
