#include "arena/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "core/error.h"
#include "core/files.h"

namespace lengthwise {
namespace {

std::string path_of(const std::string& name) {
  return testing::TempDir() + "/" + name;
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
      {framed("{", ""), "not a JSON object"},
      {framed("[]", ""), "not a JSON object"},
      {framed("{\"a\":{" + entry + "[0,8]}}", "1234"), "4 bytes of tensors instead of 8"},
      {framed("{\"a\":{" + entry + "[0,8]}}", "123456789"), "9 bytes of tensors instead of 8"},
      {framed("{\"a\":{" + entry + "[0,4]}}", "1234"), "takes 8 bytes by its shape but 4"},
      {framed("{\"a\":{" + entry + "[4,12]}}", "123456789012"), "begins at 4 instead of 0"},
      {framed("{\"a\":{" + entry + "[0,8]},\"b\":{" + entry + "[4,12]}}", "123456789012"), "begins at 4 instead of 8"},
      {framed(R"({"a":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}})", "12345678"), "type Q4"},
      {framed(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "12345678"), "impossible shape"},
      {framed(R"({"a":{"dtype":"F32","shape":[9999999999,9999999999,9999999999],"data_offsets":[0,8]}})", "12345678"),
       "impossible shape"},
      {framed(R"({"a":{"dtype":"F32"}})", ""), "is damaged"},
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

}  // namespace
}  // namespace lengthwise
