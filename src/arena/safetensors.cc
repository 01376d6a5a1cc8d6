#include "arena/safetensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"

namespace lengthwise {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian; this machine is not");

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

struct Placed {
  std::string name;
  at::ScalarType type;
  std::vector<int64_t> shape;
  uint64_t begin, end;
};

Placed read_entry(const std::string& path, const std::string& name, const nlohmann::json& entry) {
  Placed placed{name, at::kFloat, {}, 0, 0};
  try {
    const auto type = entry.at("dtype").get<std::string>();
    const auto* known =
        std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.name == type; });
    if (known == std::end(kTypes)) fail("{}: tensor '{}' has the type {}, which is not read here", path, name, type);
    placed.type = known->type;
    placed.shape = entry.at("shape").get<std::vector<int64_t>>();
    placed.begin = entry.at("data_offsets").at(0).get<uint64_t>();
    placed.end = entry.at("data_offsets").at(1).get<uint64_t>();
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the entry of tensor '{}' is damaged: {}", path, name, error.what());
  }
  uint64_t size = c10::elementSize(placed.type);
  for (const int64_t extent : placed.shape) {
    if (extent < 0 || (extent > 0 && size > (uint64_t{1} << 48) / static_cast<uint64_t>(extent))) {
      fail("{}: tensor '{}' has an impossible shape", path, name);
    }
    size *= static_cast<uint64_t>(extent);
  }
  if (placed.end < placed.begin || placed.end - placed.begin != size) {
    fail("{}: tensor '{}' takes {} bytes by its shape but {} by its offsets", path, name, size,
         placed.end - placed.begin);
  }
  return placed;
}

}  // namespace

const at::Tensor& TensorFile::find(const std::string& name) const {
  for (const auto& [key, tensor] : tensors) {
    if (key == name) return tensor;
  }
  fail("{} has no tensor '{}'", path, name);
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  uint64_t at = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const uint64_t size = static_cast<uint64_t>(tensor.numel()) * tensor.element_size();
    header[name] = {
        {"dtype", name_of(tensor.scalar_type())}, {"shape", tensor.sizes().vec()}, {"data_offsets", {at, at + size}}};
    at += size;
  }
  std::string text = header.dump();
  // Spaces behind the header put the first tensor on an 8-byte boundary.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  AtomicFile out(path);
  out.write({reinterpret_cast<const char*>(&length), sizeof(length)});
  out.write(text);
  for (const auto& [name, tensor] : file.tensors) {
    const at::Tensor whole = tensor.detach().to(at::kCPU).contiguous();
    out.write(
        {static_cast<const char*>(whole.const_data_ptr()), static_cast<size_t>(whole.numel()) * whole.element_size()});
  }
  out.commit();
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  uint64_t length = 0;
  if (bytes.size() < sizeof(length))
    fail("{} is not a safetensors file: it has only {} bytes", path.string(), bytes.size());
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > bytes.size() - sizeof(length) || length > 100'000'000) {
    fail("{} is not a whole safetensors file: its header of {} bytes does not fit", path.string(), length);
  }
  const auto header = nlohmann::json::parse(bytes.begin() + 8, bytes.begin() + 8 + static_cast<std::ptrdiff_t>(length),
                                            nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) fail("{} is not a safetensors file: its header is not a JSON object", path.string());
  TensorFile file;
  file.path = path.string();
  std::vector<Placed> entries;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(read_entry(file.path, name, entry));
      continue;
    }
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fail("{}: metadata '{}' is not a string", file.path, key);
      file.metadata[key] = value.get<std::string>();
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Placed& a, const Placed& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  const uint64_t available = bytes.size() - sizeof(length) - length;
  uint64_t at = 0;
  for (const Placed& entry : entries) {
    if (entry.begin != at) fail("{}: tensor '{}' begins at {} instead of {}", file.path, entry.name, entry.begin, at);
    at = entry.end;
  }
  if (at != available) fail("{} holds {} bytes of tensors instead of {}", file.path, available, at);
  for (const Placed& entry : entries) {
    at::Tensor tensor = at::empty(entry.shape, entry.type);
    std::memcpy(tensor.mutable_data_ptr(), bytes.data() + 8 + length + entry.begin, entry.end - entry.begin);
    file.tensors.emplace_back(entry.name, std::move(tensor));
  }
  return file;
}

}  // namespace lengthwise
