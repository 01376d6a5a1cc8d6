#pragma once
/// Scalars for TensorBoard: a TFRecord file of Event messages, written without protobuf.
///
/// A record is u64 length, u32 masked CRC-32C of those 8 bytes, the bytes, u32 masked CRC-32C of the bytes. An Event is
/// {1: double wall_time, 2: int64 step, 3: string file_version | 5: Summary{1: Value{1: string tag, 2: float value}}}.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lengthwise {

/// One framed record.
std::string event_record(std::string_view bytes);

/// Appends to DIR/events.out.tfevents.lengthwise, creating it with its version record.
class EventFile {
 public:
  explicit EventFile(const std::filesystem::path& folder);

  void scalar(const std::string& tag, int64_t step, double value);

 private:
  void append(const std::string& bytes) const;

  std::filesystem::path path_;
};

}  // namespace lengthwise
