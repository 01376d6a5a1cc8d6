#pragma once
/// Reading and writing safetensors files (https://github.com/huggingface/safetensors, "Format"): 8 bytes little-endian
/// header length, a JSON header, then the tensors' bytes without holes. Python opens them with `safetensors.torch`.
///
/// `__metadata__` holds a `checksum` (core/checksum.h) of the whole file with the checksum's own digits as zeros, so
/// that a changed bit anywhere is noticed. Files without one, as others and earlier versions write them, are read as
/// well.
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lengthwise {

struct TensorFile {
  std::vector<std::pair<std::string, at::Tensor>> tensors;  ///< float, double, int64 or uint8, on the CPU
  std::map<std::string, std::string> metadata;              ///< without the checksum

  /// The tensor of that name; UserError naming the file when there is none.
  const at::Tensor& find(const std::string& name) const;
  /// The same for weights: float, of that shape, and every value finite.
  const at::Tensor& find_weights(const std::string& name, at::IntArrayRef shape) const;
  std::string path;  ///< where it was read from, as it may be shown
};

/// Written aside, flushed, then renamed: the file is whole or as it was. The names of tensors must differ.
void write_safetensors(const std::filesystem::path& path, const TensorFile& file);

/// Everything is validated before anything is returned: header size, types, shapes, offsets without holes or overlap,
/// the checksum. A damaged file is a UserError that names it and says what is wrong.
TensorFile read_safetensors(const std::filesystem::path& path);

}  // namespace lengthwise
