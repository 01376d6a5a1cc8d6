// The head of gpu/decoder_passes.h: from the last norm's result to losses, and back.
#include <algorithm>

#include "gpu/decoder_passes.h"
#include "gpu_kernels/cross_entropy.h"

namespace lengthwise {

int64_t head_rows_for(int64_t vocabulary) {
  return std::max(kLeastHeadRows, kLogitsAtOnce / vocabulary / kHeadRowStep * kHeadRowStep);
}

int64_t DecoderPasses::padded_vocabulary() const {
  return (decoder_.config().vocab_rows + 7) / 8 * 8;
}

int64_t DecoderPasses::head_columns() const {
  const int64_t width = decoder_.config().width;
  const int64_t end = place_of(&decoder_.embedding()) + decoder_.config().vocab_rows * width;
  const int64_t gains_end = place_of(&decoder_.final_gain()) + width;
  const bool room = (padded_vocabulary() - decoder_.config().vocab_rows) * width <= gains_end - end;
  return room ? padded_vocabulary() : decoder_.config().vocab_rows;
}

void* DecoderPasses::head_row(void* rows, int64_t row) const {
  return static_cast<char*>(rows) + row * decoder_.config().width * gpu::bytes_of(storage_);
}

void DecoderPasses::head_forward(const PassShape& shape) {
  const bool learns = training_ && in_pieces(shape);
  for (int64_t first = 0; first < shape.targets; first += head_rows_) {
    const int64_t rows = std::min(head_rows_, shape.targets - first);
    score_piece(first, rows);
    if (!learns) continue;
    // Not on the second stream: the next piece overwrites the gradient of these logits, and these products fill the
    // chip alone.
    learn_piece(products_, first, rows);
    pass_back_piece(first, rows);
  }
}

void DecoderPasses::head_backward(const PassShape& shape) {
  if (in_pieces(shape)) return;
  side_->follow(stream_);
  learn_piece(side_->products(), 0, shape.targets);
  pass_back_piece(0, shape.targets);
}

void DecoderPasses::score_piece(int64_t first, int64_t rows) {
  const ModelConfig& config = decoder_.config();
  products_.multiply_transposed(head_row(head_, first), weights(&decoder_.embedding()), logits_, padded_vocabulary(),
                                gpu::Storage::float32, rows, head_columns(), config.width);
  gpu::CrossEntropy loss;
  loss.logits = logits_;
  loss.capacity = rows;
  loss.vocabulary = config.vocab_rows;
  loss.stride = padded_vocabulary();
  loss.first = first;
  loss.rows = &state_->targets;
  loss.targets = batch_.targets + first;
  loss.weight = &state_->weight;
  loss.losses = losses_ + first;
  loss.best = best_ + first;
  loss.d_storage = storage_;
  loss.d_logits = training_ ? d_logits_ : nullptr;
  gpu::cross_entropy(loss, stream_);
}

void DecoderPasses::learn_piece(Products& products, int64_t first, int64_t rows) {
  products.weight_gradient(d_logits_, padded_vocabulary(), head_row(head_, first),
                           decoder_.embedding().gradient.data_ptr<float>(), gpu::Storage::float32, rows, head_columns(),
                           decoder_.config().width, /*accumulate=*/first > 0);
}

void DecoderPasses::pass_back_piece(int64_t first, int64_t rows) {
  products_.multiply(d_logits_, padded_vocabulary(), weights(&decoder_.embedding()), head_row(d_head_, first), rows,
                     head_columns(), decoder_.config().width);
}

}  // namespace lengthwise
