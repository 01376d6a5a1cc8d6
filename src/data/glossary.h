#pragma once
/// What the tokens of a vocabulary stand for, as far as positions go by it: their texts, which of them are digits, and
/// the task that they write.
#include <cstdint>
#include <string>
#include <vector>

#include "data/vocabulary.h"
#include "tasks/task.h"

namespace lengthwise {

class Glossary {
 public:
  /// `task` may be null: the user's own data.
  Glossary(const Vocabulary& vocabulary, const Task* task);

  const Task* task() const { return task_; }
  /// "" for a space that is a token of its own.
  std::string_view text(int32_t token) const { return texts_[static_cast<size_t>(token)]; }
  /// A digit, by itself or with the symbol behind it (`3.`), as the study's tokens are.
  bool digit(int32_t token) const;
  bool has_digits() const;

 private:
  std::vector<std::string> texts_;
  const Task* task_;
};

}  // namespace lengthwise
