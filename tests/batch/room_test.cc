// Batches laid into capacities: their shapes, and that nothing changes for what is real.
#include "batch/room.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lengthwise {
namespace {

Batch batch_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> offsets{0}, positions, rows, target_offsets{0};
  for (const int64_t length : lengths) {
    for (int64_t place = 0; place < length; ++place) positions.push_back(place);
    offsets.push_back(offsets.back() + length);
    rows.push_back(offsets.back() - 1);
    target_offsets.push_back(static_cast<int64_t>(rows.size()));
  }
  Batch batch;
  batch.positions = at::tensor(positions, at::kLong);
  batch.tokens = batch.positions + 5;
  batch.streams = {batch.positions * 2, batch.positions.to(at::kDouble) / 2};
  batch.offsets = at::tensor(offsets, at::kLong);
  batch.loss_rows = at::tensor(rows, at::kLong);
  batch.targets = batch.loss_rows + 1;
  batch.target_offsets = at::tensor(target_offsets, at::kLong);
  batch.longest = *std::max_element(lengths.begin(), lengths.end());
  batch.from_zero = true;
  return batch;
}

TEST(Room, WhatIsRealStaysWhereItIs) {
  const Batch batch = batch_of({3, 17, 1, 9});
  const Batch laid = in_room(batch, room_for(batch));
  const int64_t tokens = batch.token_count(), targets = batch.target_count();
  EXPECT_TRUE(at::equal(laid.tokens.narrow(0, 0, tokens), batch.tokens));
  EXPECT_TRUE(at::equal(laid.positions.narrow(0, 0, tokens), batch.positions));
  EXPECT_TRUE(at::equal(laid.streams[0].narrow(0, 0, tokens), batch.streams[0]));
  EXPECT_TRUE(at::equal(laid.streams[1].narrow(0, 0, tokens), batch.streams[1]));
  EXPECT_TRUE(at::equal(laid.offsets.narrow(0, 0, 5), batch.offsets));
  EXPECT_TRUE(at::equal(laid.loss_rows.narrow(0, 0, targets), batch.loss_rows));
  EXPECT_TRUE(at::equal(laid.targets.narrow(0, 0, targets), batch.targets));
}

TEST(Room, FillerIsSequencesThatFit) {
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{1}, {3, 17, 1, 9}, {128}, {129, 1}, {40, 40, 40, 9}, std::vector<int64_t>(64, 37)}) {
    const Batch batch = batch_of(lengths);
    const BatchRoom room = room_for(batch);
    const Batch laid = in_room(batch, room);
    EXPECT_EQ(laid.token_count(), room.tokens);
    EXPECT_EQ(laid.target_count(), room.targets);
    EXPECT_EQ(laid.sequence_count(), room.sequences);
    EXPECT_EQ(laid.offsets[-1].item<int64_t>(), room.tokens);
    const at::Tensor length = laid.offsets.diff();
    EXPECT_GE(length.min().item<int64_t>(), 0);
    EXPECT_LE(length.max().item<int64_t>(), room.longest);
    EXPECT_LT(laid.loss_rows.max().item<int64_t>(), room.tokens);
    EXPECT_TRUE(laid.from_zero);
    for (int64_t sequence = 0; sequence < room.sequences; ++sequence) {
      const int64_t begin = laid.offsets[sequence].item<int64_t>(), count = length[sequence].item<int64_t>();
      EXPECT_TRUE(at::equal(laid.positions.narrow(0, begin, count), at::arange(count)));
    }
  }
}

TEST(Room, ManyBatchesShareFewRooms) {
  std::set<BatchRoom> rooms;
  for (int64_t longest = 20; longest < 40; ++longest) {
    std::vector<int64_t> lengths(64, 22);
    lengths[longest % 64] = longest;
    rooms.insert(room_for(batch_of(lengths)));
  }
  EXPECT_LE(rooms.size(), 3u);
}

TEST(Room, KeepsToTheLimitOfPositions) {
  const Batch batch = batch_of({3, 17});
  EXPECT_EQ(room_for(batch).longest, 32);
  EXPECT_EQ(room_for(batch, 20).longest, 20);
  EXPECT_EQ(in_room(batch, room_for(batch, 20)).longest, 20);
  EXPECT_LT(in_room(batch, room_for(batch, 20)).positions.max().item<int64_t>(), 20);
}

}  // namespace
}  // namespace lengthwise
