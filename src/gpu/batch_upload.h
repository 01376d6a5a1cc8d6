#pragma once
/// Batches from the host for passes that are not fed by the device itself.
#include "batch/batch.h"
#include "gpu/decoder_passes.h"

namespace lengthwise {

/// Fills the buffers of `passes` for a batch that is run with this shape, which must have room there, and waits until
/// the batch may be changed.
void upload_batch(const Batch& batch, const PassShape& shape, DecoderPasses& passes, cudaStream_t stream);

}  // namespace lengthwise
