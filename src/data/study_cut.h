#pragma once
/// How the founding study's tokenizer cuts the words of its wordings into tokens.
///
/// The study reads and writes text through the SentencePiece vocabulary of T5. It cuts at white space first, so that
/// the tokens of a word do not depend on its neighbours, and then makes of a word what its vocabulary has pieces for.
/// Most of the words in our tasks are one piece. Where they are not, it matters: a digit and the comma behind it are
/// one token while a letter and its comma are two, so that in a list of both the place of an item does not tell how
/// many came before it.
///
///     Sort the following list [ 3, M, B ].   ->   Sort the following list [ 3, M , B _ ].
///     The answer is 9 0 5.                   ->   The answer is 9 _ 0 5.
///
/// (`_` is a space that is a token of its own; it stands before what has no piece that begins with a space.)
///
/// The rules and the table hold for the words of our tasks, and were read off the tokenizer itself; other words are one
/// token here whatever T5 makes of them. tests/data/study_cut_test.cc lists what it made of each kind.
#include <string_view>
#include <vector>

namespace lengthwise {

/// Replaces `parts` by the tokens of a text without white space. Put together they are the text; an empty first one is
/// the space before it.
void study_cut(std::string_view chunk, std::vector<std::string_view>& parts);

}  // namespace lengthwise
