#pragma once
/// The part of a text that counts as right or wrong, found the way the founding study did in what a model wrote: the
/// last sentence that gives an answer counts, and neither what stands before it nor what follows matters.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lengthwise {

enum class AnswerKind : uint8_t {
  whole,        ///< the whole text
  number,       ///< an integer of any size: `The answer is - 1 6.`
  statement,    ///< anything, in small or capital letters: `The answer is Yes.`
  list,         ///< items in this order: `The sorted list is [ B, F ].`, or as printed `The answer is 3 5.`
  number_list,  ///< integers in this order: `The sorted list is [ 1 0, 2 5 ].`, or as printed `The answer is 1 0, 2 5.`
};

/// The answer in a text without scratchpad, written so that answers are equal when these texts are: numbers without
/// spaces and leading zeros, statements in small letters. Nothing where the text gives no answer. Takes time in
/// proportion to the text, whatever it holds. The exact rules, with spaces standing for any white space:
///
///   number       after the last `The answer is` and a space: `-` and one more space, both optional, then the longest
///                run of digits, spaces and periods that does not begin with a space, up to its last period. Without a
///                period behind the first character, or with another one, there is no number.
///   statement    between the last `The answer is` and the last period, trimmed; not empty.
///   list         between `[`, which must follow the last `The sorted list is`, and the last `]`; split at commas,
///                trimmed. Where no such sentence begins, as a statement, and spaces part the items.
///   number_list  the same, split at commas in either wording; all items are integers once their spaces are removed.
std::optional<std::string> extract_answer(AnswerKind kind, std::string_view text);

}  // namespace lengthwise
