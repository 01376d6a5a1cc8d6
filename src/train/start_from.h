#pragma once
/// Beginning a run with weights that are there already: of another run, or of any safetensors file with our names
/// (docs/formats.md). The run may have another encoding, other lengths, another task: parameters are taken by name
/// where their shape fits, rows of the embedding, and of a recurrent network's head, by the text of their tokens, also
/// where one vocabulary is a task's and the other that of a text: `the` is then the subword for a space and `the`, or
/// for `the` alone, and a digit its byte.
/// Everything else, the moments of AdamW and the schedule begin as in any run.
#include <filesystem>
#include <optional>
#include <string>

#include "arena/safetensors.h"
#include "data/vocabulary.h"
#include "model/model.h"

namespace lengthwise {

struct StartingWeights {
  TensorFile file;
  std::optional<Vocabulary> vocabulary;  ///< of vocabulary.json beside the file, if there is one
  std::string checksum;  ///< of names, shapes, values and vocabulary, wherever and however they are stored
};

/// `from` is the folder of a run, which means its best.safetensors, or a .safetensors file. Values must be finite.
StartingWeights read_starting_weights(const std::filesystem::path& from);

/// Puts into the model whatever of the weights fits it, and says in one line what was taken and what was not.
/// `vocabulary` is that of the model's embedding. Without a vocabulary beside the weights, rows of an embedding of
/// the same shape are taken as they stand. UserError when no layer has a weight that fits.
std::string start_from(const StartingWeights& weights, const Vocabulary& vocabulary, Model& model);

/// Adds to every weight `share` times the root mean square of its tensor times a normal number of its own, which
/// depends on the seed, the tensor's name and the weight's place alone. A tensor of zeros stays one.
void disturb(Parameters& parameters, double share, uint64_t seed);

}  // namespace lengthwise
