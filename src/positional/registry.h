#pragma once
/// The list of encodings. Help texts, error messages, documentation and property tests follow from it.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "positional/encoding.h"

namespace lengthwise {

struct EncodingEntry {
  const char* name;
  MakeEncoding make;
};

std::span<const EncodingEntry> encodings();

/// An unknown name is a UserError with the nearest known one.
const EncodingEntry& find_encoding(std::string_view name);

std::vector<std::string> encoding_names();

/// What an encoding says of itself, without a model.
EncodingInfo describe_encoding(const EncodingEntry& entry);

/// T5's bucket of a distance: exact below half the buckets, then logarithmic up to max_distance.
int64_t t5_bucket(int64_t distance, int64_t buckets, int64_t max_distance);

/// ALiBi's slopes: 2^(-8(h+1)/H) for a power of two; otherwise those of the power below, then every second one of the
/// power above (so they are not monotone).
std::vector<double> alibi_slopes(int64_t heads);

/// [head, distance]: minus slope [head] times distance. The study adds slope times key index instead, which differs by
/// a constant per query that the softmax removes.
at::Tensor alibi_table(const at::Tensor& slopes, int64_t distances);

}  // namespace lengthwise
