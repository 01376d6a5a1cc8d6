#include "data/glossary.h"

#include "core/text.h"

namespace lengthwise {

Glossary::Glossary(const Vocabulary& vocabulary, const Task* task) : task_(task) {
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    texts_.push_back(vocabulary.token(id).text);
  }
}

bool Glossary::digit(int32_t token) const {
  const std::string_view text = this->text(token);
  return !text.empty() && is_digit(text[0]) && (text.size() == 1 || (text.size() == 2 && !is_digit(text[1])));
}

bool Glossary::has_digits() const {
  for (int32_t id = 0; id < static_cast<int32_t>(texts_.size()); ++id) {
    if (digit(id)) return true;
  }
  return false;
}

}  // namespace lengthwise
