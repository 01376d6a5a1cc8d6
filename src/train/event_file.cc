#include "train/event_file.h"

#include <bit>
#include <chrono>
#include <cstring>

#include "core/checksum.h"
#include "core/files.h"

namespace lengthwise {
namespace {

uint32_t masked(uint32_t crc) {
  return std::rotr(crc, 15) + 0xa282ead8u;
}

template <class T>
void append_raw(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

void append_varint(std::string& bytes, uint64_t value) {
  while (value >= 0x80) {
    bytes += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes += static_cast<char>(value);
}

void append_field(std::string& bytes, int field, std::string_view content) {
  append_varint(bytes, static_cast<uint64_t>(field) << 3 | 2);
  append_varint(bytes, content.size());
  bytes += content;
}

std::string event_head() {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  std::string event;
  append_varint(event, 1 << 3 | 1);
  append_raw(event, now.count());
  return event;
}

}  // namespace

std::string event_record(std::string_view bytes) {
  std::string record;
  append_raw(record, static_cast<uint64_t>(bytes.size()));
  append_raw(record, masked(crc32c(record)));
  record += bytes;
  append_raw(record, masked(crc32c(bytes)));
  return record;
}

EventFile::EventFile(const std::filesystem::path& folder) : path_(folder / "events.out.tfevents.lengthwise") {
  if (is_there(path_)) return;
  std::string event = event_head();
  append_field(event, 3, "brain.Event:2");
  append(event_record(event));
}

void EventFile::scalar(const std::string& tag, int64_t step, double value) {
  std::string number;
  append_field(number, 1, tag);
  append_varint(number, 2 << 3 | 5);
  append_raw(number, static_cast<float>(value));
  std::string summary;
  append_field(summary, 1, number);
  std::string event = event_head();
  append_varint(event, 2 << 3);
  append_varint(event, static_cast<uint64_t>(step));
  append_field(event, 5, summary);
  append(event_record(event));
}

void EventFile::append(const std::string& bytes) const {
  append_file(path_, bytes);
}

}  // namespace lengthwise
