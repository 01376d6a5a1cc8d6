#pragma once
/// Two kinds of error, two mechanisms.
///
/// A user's mistake is a `UserError`: one line that says what was wrong, where, and what would be right. `main` catches
/// it once, prints it and exits with 2. A bug is `LENGTHWISE_CHECK`, which throws `std::logic_error` with the place.
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace lengthwise {

class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void throw_user_error(const std::string& message);

/// Throws a UserError with a formatted message, made printable (core/printable.h): names and contents of files may hold
/// anything.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw_user_error(fmt::format(format, std::forward<Args>(args)...));
}

/// What an exception says, printable and without the backtrace that torch appends.
std::string message_of(const std::exception& error);

[[noreturn]] void check_failed(const char* expression, const char* file, int line, const std::string& message);

}  // namespace lengthwise

/// LENGTHWISE_CHECK(condition, "format", args...): an assertion that is always compiled in.
#define LENGTHWISE_CHECK(condition, ...)                                                                    \
  do {                                                                                                      \
    if (!(condition)) ::lengthwise::check_failed(#condition, __FILE__, __LINE__, fmt::format(__VA_ARGS__)); \
  } while (false)
