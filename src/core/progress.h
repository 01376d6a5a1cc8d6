#pragma once
/// One line of progress for long work: rewritten in place on a terminal, a plain line now and then otherwise, nothing
/// when quiet. Texts are made printable (core/printable.h). Always on standard error, so that results on standard
/// output can be piped. Work that is shown in another way (the runs of a study) derives from it.
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>

namespace lengthwise {

/// Thrown by `Progress::update` to stop the work from outside. Nothing is wrong: whoever is resumable saves and passes
/// it on.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

class Progress {
 public:
  enum class Mode { automatic, quiet };

  explicit Progress(Mode mode = Mode::automatic);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress();

  /// Shows `text` with the share done and the time left. Calls that come too soon after the last are dropped. Another
  /// total, or less done than before, is other work.
  virtual void update(int64_t done, int64_t total, const std::string& text);

  /// Ends the line of progress, if one stands there, and prints a line of its own (unless quiet).
  virtual void line(const std::string& text);

  bool quiet() const { return quiet_; }

 private:
  using Clock = std::chrono::steady_clock;

  void clear();

  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point started_;
  Clock::time_point shown_;
  int64_t first_ = -1;  ///< where the work that is under way began
  int64_t last_ = 0;
  int64_t total_ = 0;
};

/// 59 -> "59s", 3700 -> "1h02m".
std::string format_seconds(double seconds);

/// 12345 -> "12.3k".
std::string format_count(double count);

}  // namespace lengthwise
