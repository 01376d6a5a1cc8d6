#pragma once
/// Which trained weights a reading with another encoding takes: those of the same part.
///
/// An encoding's weights are named after its place: `encoding.relative_bias` of `t5`, `encoding.t5.relative_bias` in
/// `t5+window(size=512)`, `encoding.0.relative_bias` in `layers(t5,nope)`. A run with `t5` can be read with a window
/// all the same, one with a window without it, and the layers of a mixture each with a window of its own.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lengthwise {

class TrainedNames {
 public:
  /// Both texts as `read_encoding` takes them.
  TrainedNames(std::string_view read, std::string_view trained);

  /// What a run with the encoding `trained` calls the weights that the encoding `read` calls `name`; `name` itself
  /// where the two have no such part in common, and for weights that belong to no encoding.
  std::string operator()(const std::string& name) const;

 private:
  std::vector<std::pair<std::string, std::string>> prefixes_;  ///< of a part's names, as it is read and as trained
};

}  // namespace lengthwise
