#include "arena/safetensors.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"

namespace lengthwise {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian; this machine is not");

constexpr uint64_t kMostHeaderBytes = 16 << 20;
constexpr std::string_view kChecksumKey = "\"checksum\":\"";
constexpr const char* kChecksumStart = "crc32c:";
constexpr size_t kChecksumDigits = 8;

struct TypeName {
  at::ScalarType type;
  const char* name;
};
constexpr TypeName kTypes[] = {{at::kFloat, "F32"}, {at::kDouble, "F64"}, {at::kLong, "I64"},
                               {at::kInt, "I32"},   {at::kByte, "U8"},    {at::kBFloat16, "BF16"}};

const char* name_of(at::ScalarType type) {
  for (const TypeName& entry : kTypes) {
    if (entry.type == type) return entry.name;
  }
  LENGTHWISE_CHECK(false, "no safetensors type for {}", c10::toString(type));
  return "";
}

std::string_view raw_bytes(const uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

struct Placed {
  std::string name;
  at::ScalarType type = at::kFloat;
  std::vector<int64_t> shape = {};
  uint64_t begin = 0, end = 0;
};

/// An array of whole numbers that are not negative.
std::vector<int64_t> read_numbers(const JsonObject& entry, const char* key) {
  std::vector<int64_t> numbers;
  for (const Json& number : entry.array(key)) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > uint64_t{1} << 48) {
      entry.fail_at(key, "an array of whole numbers that are possible");
    }
    numbers.push_back(number.get<int64_t>());
  }
  return numbers;
}

Placed read_entry(const std::string& path, const std::string& name, const Json& json) {
  const JsonObject entry(json, fmt::format("{} is damaged: tensor '{}'", path, excerpt(name)));
  Placed placed{.name = name};
  const std::string& type = entry.text("dtype");
  const auto* known =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.name == type; });
  if (known == std::end(kTypes)) fail("{} has the type {}, which is not read here", entry.where(), excerpt(type));
  placed.type = known->type;
  placed.shape = read_numbers(entry, "shape");
  const std::vector<int64_t> offsets = read_numbers(entry, "data_offsets");
  if (offsets.size() != 2) entry.fail_at("data_offsets", "where it begins and ends");
  placed.begin = static_cast<uint64_t>(offsets[0]);
  placed.end = static_cast<uint64_t>(offsets[1]);
  uint64_t size = c10::elementSize(placed.type);
  for (const int64_t extent : placed.shape) {
    if (extent > 0 && size > (uint64_t{1} << 48) / static_cast<uint64_t>(extent)) {
      fail("{} has an impossible shape", entry.where());
    }
    size *= static_cast<uint64_t>(extent);
  }
  if (placed.end < placed.begin || placed.end - placed.begin != size) {
    fail("{} takes {} bytes by its shape but {} by its offsets", entry.where(), size,
         static_cast<int64_t>(placed.end - placed.begin));
  }
  return placed;
}

/// In the order of their bytes, which fill `available` without holes.
void check_places(std::vector<Placed>& entries, uint64_t available, const std::string& path) {
  std::sort(entries.begin(), entries.end(),
            [](const Placed& a, const Placed& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  uint64_t at = 0;
  for (const Placed& entry : entries) {
    if (entry.begin != at) {
      fail("{} is damaged: tensor '{}' begins at {} instead of {}", path, excerpt(entry.name), entry.begin, at);
    }
    at = entry.end;
  }
  if (at != available) fail("{} is damaged: it holds {} bytes of tensors instead of {}", path, available, at);
}

/// Takes the checksum out of the metadata and sets its digits in the header's text to zero; "" where there is none.
std::string take_checksum(std::map<std::string, std::string>& metadata, std::string& header, const std::string& path) {
  const auto found = metadata.find("checksum");
  const std::string checksum = found == metadata.end() ? std::string() : found->second;
  const size_t at = header.find(std::string(kChecksumKey) + checksum + '"');
  const bool whole = checksum.starts_with(kChecksumStart) && checksum.size() == checksum_text(0).size();
  if (found == metadata.end()) {
    // Damage to its name must not turn a checked file into one of those that never had a checksum.
    if (header.find(kChecksumStart) == std::string::npos) return "";
    fail("{} is damaged: its checksum is not where it belongs", path);
  }
  if (!whole || at == std::string::npos) fail("{} is damaged: its checksum cannot be read", path);
  std::fill_n(header.begin() + static_cast<std::ptrdiff_t>(at + kChecksumKey.size() + std::strlen(kChecksumStart)),
              kChecksumDigits, '0');
  metadata.erase(found);
  return checksum;
}

/// Reads all of it, in pieces that are still in the processor's cache when they are added to the checksum.
uint32_t read_tensor(InputFile& in, const at::Tensor& tensor, uint32_t crc, const std::string& path) {
  constexpr size_t kPiece = 1 << 20;
  char* to = static_cast<char*>(tensor.mutable_data_ptr());
  for (size_t left = tensor.nbytes(); left > 0;) {
    const size_t got = in.read(to, std::min(left, kPiece));
    if (got == 0) fail("{} became shorter while it was read", path);
    crc = crc32c({to, got}, crc);
    to += got;
    left -= got;
  }
  return crc;
}

/// Without a branch, so that it is done in vectors.
bool all_finite(std::span<const float> values) {
  constexpr uint32_t kExponent = 0x7f800000;
  bool finite = true;
  for (const float value : values) finite &= (std::bit_cast<uint32_t>(value) & kExponent) != kExponent;
  return finite;
}

}  // namespace

const at::Tensor& TensorFile::find(const std::string& name) const {
  for (const auto& [key, tensor] : tensors) {
    if (key == name) return tensor;
  }
  fail("{} has no tensor '{}'", path, name);
}

const at::Tensor& TensorFile::find_weights(const std::string& name, at::IntArrayRef shape) const {
  const at::Tensor& tensor = find(name);
  if (tensor.scalar_type() != at::kFloat) {
    fail("{}: '{}' has the type {} instead of F32", path, name, name_of(tensor.scalar_type()));
  }
  if (tensor.sizes() != shape) {
    fail("{}: '{}' has the shape [{}] instead of the model's, [{}]", path, name, fmt::join(tensor.sizes(), ", "),
         fmt::join(shape, ", "));
  }
  if (!all_finite({tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())})) {
    fail("{}: '{}' holds values that are no finite numbers", path, name);
  }
  return tensor;
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  Json header = Json::object();
  header["__metadata__"] = file.metadata;
  header["__metadata__"]["checksum"] = checksum_text(0);
  uint64_t at = 0;
  for (const auto& [name, tensor] : file.tensors) {
    LENGTHWISE_CHECK(!header.contains(name), "two tensors are called '{}'", name);
    const uint64_t size = tensor.nbytes();
    header[name] = {
        {"dtype", name_of(tensor.scalar_type())}, {"shape", tensor.sizes().vec()}, {"data_offsets", {at, at + size}}};
    at += size;
  }
  std::string text = json_text(header);
  // Spaces behind the header put the first tensor on an 8-byte boundary.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  AtomicFile out(path);
  uint32_t crc = 0;
  const auto write = [&](std::string_view bytes) {
    out.write(bytes);
    crc = crc32c(bytes, crc);
  };
  write(raw_bytes(length));
  write(text);
  for (const auto& [name, tensor] : file.tensors) {
    const at::Tensor whole = tensor.detach().to(at::kCPU).contiguous();
    std::string_view bytes(static_cast<const char*>(whole.const_data_ptr()), whole.nbytes());
    constexpr size_t kPiece = 1 << 20;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) write(bytes.substr(0, kPiece));
  }
  const size_t place = text.find(std::string(kChecksumKey) + checksum_text(0)) + kChecksumKey.size();
  out.write_at(static_cast<int64_t>(sizeof(length) + place), checksum_text(crc));
  out.commit();
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  TensorFile file;
  file.path = shown(path);
  InputFile in(path);
  uint64_t length = 0;
  if (in.read(reinterpret_cast<char*>(&length), sizeof(length)) < sizeof(length)) {
    fail("{} is not a safetensors file: it has only {} bytes", file.path, in.bytes());
  }
  const uint64_t after = static_cast<uint64_t>(in.bytes()) - sizeof(length);
  if (length > after || length > kMostHeaderBytes) {
    fail("{} is not a whole safetensors file: its header of {} bytes does not fit", file.path, length);
  }
  std::string text(length, '\0');
  if (in.read(text.data(), length) < length) fail("{} became shorter while it was read", file.path);
  const Json json = parse_json(text, file.path + " is not a safetensors file: its header");
  std::vector<Placed> entries;
  const JsonObject header(json, file.path + " is not a safetensors file: its header");
  for (const auto& [name, entry] : header.members()) {
    if (name != "__metadata__") {
      entries.push_back(read_entry(file.path, name, entry));
      continue;
    }
    const JsonObject metadata(entry, file.path + " is damaged: its metadata");
    for (const auto& [key, value] : metadata.members()) {
      if (!value.is_string()) metadata.fail_at(key, "a text");
      file.metadata[key] = value.get_ref<const std::string&>();
    }
  }
  check_places(entries, after - length, file.path);
  const std::string checksum = take_checksum(file.metadata, text, file.path);
  uint32_t crc = crc32c(text, crc32c(raw_bytes(length)));
  for (const Placed& entry : entries) {
    at::Tensor tensor = at::empty(entry.shape, entry.type);
    crc = read_tensor(in, tensor, crc, file.path);
    file.tensors.emplace_back(entry.name, std::move(tensor));
  }
  if (!checksum.empty() && checksum != checksum_text(crc)) {
    fail("{} is damaged: its checksum is not that of its contents", file.path);
  }
  return file;
}

}  // namespace lengthwise
