#include "batch/room.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace lengthwise {
namespace {

/// Steps of an eighth of the power of two below, and of `least` at least.
int64_t step_of(int64_t count, int64_t least) {
  return std::max(least, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, count)))) / 8);
}

int64_t rounded_up(int64_t count, int64_t step) {
  return (count + step - 1) / step * step;
}

at::Tensor with_filler(const at::Tensor& x, int64_t size, int64_t filler = 0) {
  return at::constant_pad_nd(x, {0, size - x.size(0)}, filler);
}

}  // namespace

BatchRoom room_for(const Batch& batch, int64_t limit) {
  const int64_t tokens = batch.token_count();
  // A step is captured for each room, which stops everybody else on the device meanwhile: rather some hundred rows of
  // filler than another room.
  const int64_t step = step_of(tokens, 512);
  BatchRoom room;
  room.longest = rounded_up(batch.longest, step_of(batch.longest, 16));
  if (limit > 0) room.longest = std::max(batch.longest, std::min(room.longest, limit));
  room.tokens = rounded_up(tokens, step);
  room.targets = rounded_up(batch.target_count(), step);
  // As many as the most filler needs.
  room.sequences = batch.sequence_count() + rounded_up(step - 1, room.longest) / room.longest;
  return room;
}

Batch in_room(const Batch& batch, const BatchRoom& room) {
  const int64_t tokens = batch.token_count();
  const int64_t targets = batch.target_count();
  LENGTHWISE_CHECK(batch.sequence_count() <= room.sequences && tokens <= room.tokens && targets <= room.targets &&
                       batch.longest <= room.longest,
                   "a batch of {} tokens in a room for {}", tokens, room.tokens);
  Batch laid = batch;
  laid.longest = room.longest;
  laid.tokens = with_filler(batch.tokens, room.tokens);
  for (at::Tensor& stream : laid.streams) stream = with_filler(stream, room.tokens);
  laid.loss_rows = with_filler(batch.loss_rows, room.targets, room.tokens - 1);
  laid.targets = with_filler(batch.targets, room.targets);

  laid.offsets = with_filler(batch.offsets, room.sequences + 1);
  laid.target_offsets = with_filler(batch.target_offsets, room.sequences + 1, targets);
  laid.target_offsets[room.sequences] = room.targets;
  laid.positions = with_filler(batch.positions, room.tokens);
  auto* offsets = laid.offsets.data_ptr<int64_t>();
  auto* positions = laid.positions.data_ptr<int64_t>();
  int64_t end = tokens;
  for (int64_t sequence = batch.sequence_count() + 1; sequence <= room.sequences; ++sequence) {
    const int64_t length = std::min(room.longest, room.tokens - end);
    for (int64_t place = 0; place < length; ++place) positions[end + place] = place;
    end += length;
    offsets[sequence] = end;
  }
  LENGTHWISE_CHECK(end == room.tokens, "{} filler tokens have no sequence", room.tokens - end);
  return laid;
}

}  // namespace lengthwise
