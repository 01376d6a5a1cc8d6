#include "arena/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "core/error.h"
#include "core/files.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

std::string path_of(const std::string& name) {
  static const TemporaryFolder folder;
  return (folder / name).string();
}

/// Without waiting for the disk.
void put(const std::string& name, const std::string& bytes) {
  std::ofstream(path_of(name), std::ios::binary) << bytes;
}

std::string framed(const std::string& header, const std::string& body) {
  const uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + body;
}

TEST(Safetensors, ComeBackAsTheyWere) {
  TensorFile file;
  file.tensors = {{"a", at::randn({3, 4})},
                  {"empty", at::empty({0, 7})},
                  {"scalar", at::tensor(2.5, at::kDouble)},
                  {"numbers", at::arange(5, at::kLong)},
                  {"half", at::randn({6}).to(at::kBFloat16)}};
  file.metadata = {{"step", "12"}, {"quote", "a \"b\""}};
  write_safetensors(path_of("good.safetensors"), file);
  const TensorFile back = read_safetensors(path_of("good.safetensors"));
  ASSERT_EQ(back.tensors.size(), file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_EQ(back.find(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(back.find(name), tensor)) << name;
  }
  EXPECT_EQ(back.metadata, file.metadata);
  EXPECT_THROW(back.find("b"), UserError);
}

TEST(Safetensors, BeginOnAnEightByteBoundary) {
  TensorFile file;
  file.tensors = {{"x", at::ones({1}, at::kDouble)}};
  write_safetensors(path_of("aligned.safetensors"), file);
  const std::string bytes = read_file(path_of("aligned.safetensors"));
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(header % 8, 0U);
  EXPECT_EQ(bytes.size(), 8 + header + 8);
  EXPECT_EQ(bytes[8], '{');
}

TEST(Safetensors, DamageIsNamed) {
  const std::string entry = R"("dtype":"F32","shape":[2],"data_offsets":)";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"abc", "only 3 bytes"},
      {framed("{", ""), "its header: not valid JSON at byte 2"},
      {framed("[]", ""), "its header: a JSON object is needed"},
      {framed(std::string(200'000, '['), ""), "its header: nested more than 100 deep"},
      {framed("{\"a\":{" + entry + "[0,8]}}", "1234"), "4 bytes of tensors instead of 8"},
      {framed("{\"a\":{" + entry + "[0,8]}}", "123456789"), "9 bytes of tensors instead of 8"},
      {framed("{\"a\":{" + entry + "[0,4]}}", "1234"), "takes 8 bytes by its shape but 4"},
      {framed("{\"a\":{" + entry + "[4,12]}}", "123456789012"), "begins at 4 instead of 0"},
      {framed("{\"a\":{" + entry + "[0,8]},\"b\":{" + entry + "[4,12]}}", "123456789012"), "begins at 4 instead of 8"},
      {framed(R"({"a":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}})", "12345678"), "type Q4"},
      {framed(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "12345678"), "'shape' must be"},
      {framed(R"({"a":{"dtype":"F32","shape":[9999999999,9999999999,9999999999],"data_offsets":[0,8]}})", "12345678"),
       "impossible shape"},
      {framed(R"({"a":{"dtype":"F32"}})", ""), "is damaged"},
      {framed(R"({"a":3})", ""), "is damaged"},
      {framed("{\"a\":{" + entry + "[0,8,9]}}", "12345678"), "'data_offsets' must be"},
      {framed("{\"a\":{" + entry + "[0,1e1]}}", "12345678"), "'data_offsets' must be"},
      {framed("{\"a\":{" + entry + "[8,0]}}", "12345678"), "takes 8 bytes by its shape but -8"},
      {framed("{\"a\":{" + entry + "[0,8]},\"a\":{" + entry + "[8,16]}}", "1234567812345678"),
       "'a' stands in one object"},
      {framed("{\"__metadata__\":3}", ""), "its metadata: a JSON object"},
      {framed("{\"__metadata__\":{\"step\":3}}", ""), "'step' must be a text"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10), "does not fit"},
  };
  for (const auto& [bytes, reason] : cases) {
    write_file(path_of("bad.safetensors"), bytes);
    try {
      read_safetensors(path_of("bad.safetensors"));
      ADD_FAILURE() << "accepted: " << reason;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("bad.safetensors"), std::string::npos) << error.what();
    }
  }
}

TEST(Safetensors, EveryFlippedBitIsNoticed) {
  TensorFile file;
  file.tensors = {{"a", at::tensor({1.5F, -2.0F, 0.0F})}, {"b", at::arange(3, at::kLong)}};
  file.metadata = {{"format", "lengthwise-weights"}, {"step", "12"}};
  write_safetensors(path_of("whole.safetensors"), file);
  const std::string bytes = read_file(path_of("whole.safetensors"));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    put("flipped.safetensors", damaged);
    EXPECT_THROW(read_safetensors(path_of("flipped.safetensors")), UserError)
        << "byte " << bit / 8 << ", bit " << bit % 8;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    put("flipped.safetensors", bytes.substr(0, size));
    EXPECT_THROW(read_safetensors(path_of("flipped.safetensors")), UserError) << size;
  }
  write_file(path_of("flipped.safetensors"), bytes + bytes);
  EXPECT_THROW(read_safetensors(path_of("flipped.safetensors")), UserError);
}

TEST(Safetensors, WithoutAChecksumAreReadAsWell) {
  write_file(path_of("plain.safetensors"),
             framed(R"({"__metadata__":{"step":"3"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234"));
  EXPECT_EQ(read_safetensors(path_of("plain.safetensors")).metadata.at("step"), "3");
}

TEST(Safetensors, WeightsAreFiniteFloatsOfTheirShape) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  TensorFile file;
  file.path = "w";
  file.tensors = {{"good", at::tensor({1e38F, -0.0F})},
                  {"infinite", at::tensor({1.0F, -infinity})},
                  {"nan", at::tensor({nothing, 1.0F})},
                  {"double", at::ones({2}, at::kDouble)}};
  EXPECT_TRUE(file.find_weights("good", {2}).defined());
  EXPECT_THROW(file.find_weights("good", {1, 2}), UserError);
  EXPECT_THROW(file.find_weights("good", {3}), UserError);
  EXPECT_THROW(file.find_weights("infinite", {2}), UserError);
  EXPECT_THROW(file.find_weights("nan", {2}), UserError);
  EXPECT_THROW(file.find_weights("double", {2}), UserError);
  EXPECT_THROW(file.find_weights("absent", {2}), UserError);
}

TEST(Safetensors, TensorsOfOneNameAreABug) {
  TensorFile file;
  file.tensors = {{"a", at::ones({1})}, {"a", at::ones({1})}};
  EXPECT_THROW(write_safetensors(path_of("twice.safetensors"), file), std::logic_error);
}

}  // namespace
}  // namespace lengthwise
