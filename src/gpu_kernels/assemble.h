#pragma once
/// Batches on the device: from the data set's token array and the epochs' orders to what the model reads.
///
/// The same batches as batch/assemble.h makes on the CPU: example i of step s is at place s * sequences + i of the
/// epochs' orders laid end to end; its inputs are all tokens but the last; position p of a sequence is a target's row
/// when the token behind it belongs to the target. Reads the step from, and writes the counts, the weight 1 / targets
/// and the dropout seed to, the StepState. One launch.
///
/// A step's batch may be taken in parts, one launch each: part p of n, p from the StepState, has the sequences from
/// p * all / n up to (p + 1) * all / n, the weight 1 / targets of all parts, and the p-th seed that the step draws, as
/// on the CPU (train/step_inputs.h).
///
/// Rows beyond the real ones are filled: tokens, positions and targets with 0, loss_rows and target_at with -1, offsets
/// with the last offset. A batch that does not fit sets kTooLarge and is cut off; so does a part that does not have as
/// many sequences as it was launched for.
#include "gpu_kernels/launch.h"
#include "gpu_kernels/step_state.h"

namespace lengthwise::gpu {

/// data/token_set.h in device memory.
struct DeviceTokens {
  const int32_t* tokens = nullptr;
  const int64_t* offsets = nullptr;        ///< [example + 1]
  const int32_t* prompt_tokens = nullptr;  ///< [example]
  int64_t examples = 0;
};

/// Permutations of `epochs` epochs; epoch e is row e % epochs. The host replaces rows that are used up. There must be
/// enough rows for one batch: epochs >= ceil(sequences / examples) + 1.
/// A list of examples to evaluate is an order too: examples = its length, epochs = 1.
struct DeviceOrder {
  const int32_t* examples = nullptr;  ///< [epochs, count]
  int64_t count = 0;
  int64_t epochs = 1;
};

struct DeviceBatch {
  int64_t sequences = 0;       ///< at most kMostSequences (limits.h)
  int64_t token_capacity = 0;  ///< multiple of 4 where speed matters
  int64_t target_capacity = 0;
  int64_t longest = 0;           ///< limit for a sequence: what attention is launched for
  int32_t* tokens = nullptr;     ///< [token_capacity]
  int32_t* positions = nullptr;  ///< [token_capacity]
  int32_t* target_at = nullptr;  ///< [token_capacity]: the target this row predicts, or -1
  int32_t* offsets = nullptr;    ///< [sequences + 1]
  int32_t* loss_rows = nullptr;  ///< [target_capacity]
  int32_t* targets = nullptr;    ///< [target_capacity]
};

struct AssembleBatch {
  DeviceTokens set;
  DeviceOrder order;
  DeviceBatch batch;
  int64_t parts = 1;
  int64_t step_sequences = 0;  ///< of all parts; not read where there is one
  StepState* state = nullptr;
  uint64_t dropout_key = 0;   ///< Rng::stream("dropout").key() of the run: the seed is its next64() at the step
  uint64_t offset_key = 0;    ///< Rng::stream("offsets").key()
  int64_t random_offset = 0;  ///< starts are drawn from 0 .. random_offset - tokens as on the host; 0: all start at 0
};

void assemble_batch(const AssembleBatch& args, cudaStream_t stream);

}  // namespace lengthwise::gpu
