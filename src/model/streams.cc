#include "model/streams.h"

#include "core/error.h"

namespace lengthwise {

std::vector<PositionStream> streams_of(const Decoder& decoder, const std::vector<at::Tensor>& given,
                                       const at::Tensor& index) {
  const std::vector<PositionRule>& rules = decoder.placing().rules;
  LENGTHWISE_CHECK(given.empty() || given.size() == rules.size(), "positions by {} rules for an encoding with {}",
                   given.size(), rules.size());
  std::vector<PositionStream> streams;
  for (size_t i = 0; i < rules.size(); ++i) {
    streams.push_back({rules[i], given.empty() ? unplaced(rules[i], index) : given[i], {}, {}});
  }
  return streams;
}

EncodingContext context_of(const Decoder& decoder, const at::Tensor& positions,
                           const std::vector<at::Tensor>& streams) {
  EncodingContext context;
  context.positions = positions;
  context.streams = streams_of(decoder, streams, positions);
  return context;
}

}  // namespace lengthwise
