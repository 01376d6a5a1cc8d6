#pragma once
/// The words of PCFG SET (Hupkes et al. 2020) as small numbers.
///
///     call     := unary argument | binary argument , argument
///     argument := call | symbol symbol ...
///
/// 520 symbols A1..A20 ... Z1..Z20. With X and Y for the arguments:
///
///     copy X             X                         append X , Y          X Y
///     reverse X          last to first             prepend X , Y         Y X
///     shift X            first symbol to the end   remove_first X , Y    Y
///     echo X             last symbol once more     remove_second X , Y   X
///     swap_first_last X  those two exchanged
///     repeat X           X X
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tasks/style.h"

namespace lengthwise {

/// Symbols are 0..519 in the order A1, A2, ..., Z20.
using PcfgWord = uint16_t;

inline constexpr PcfgWord kPcfgSymbols = 520;

namespace pcfg {

enum Word : PcfgWord {
  copy = kPcfgSymbols,
  reverse,
  shift,
  echo,
  swap_first_last,
  repeat,
  append,
  prepend,
  remove_first,
  remove_second,
  comma,
  end,
};

inline constexpr bool is_symbol(PcfgWord word) {
  return word < kPcfgSymbols;
}
inline constexpr bool is_function(PcfgWord word) {
  return word >= copy && word < comma;
}
inline constexpr bool is_binary(PcfgWord word) {
  return word >= append && word < comma;
}

}  // namespace pcfg

/// The most symbols that all intermediate results together may have. The public corpus stays far below.
inline constexpr size_t kPcfgMaxSymbols = 100'000;

std::string_view pcfg_text(PcfgWord word);

/// The word of that text, or nothing.
std::optional<PcfgWord> find_pcfg_word(std::string_view text);

/// Appends the words with one space between them: `append A1 B2 , C3`.
void append_pcfg(std::string& text, std::span<const PcfgWord> words);

/// printed: the source alone. released: `Solve: append A1 B2 , C3[SEP]`.
void append_pcfg_prompt(std::string& text, std::span<const PcfgWord> source, Wording wording);

}  // namespace lengthwise
