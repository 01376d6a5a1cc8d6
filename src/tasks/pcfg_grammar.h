#pragma once
/// The grammar that PCFG SET sources are drawn from.
///
/// The public corpus (Hupkes et al. 2020) was sampled from a probabilistic context-free grammar
///
///     call     -> unary argument        chance u, each of the six functions alike
///               | binary argument , argument   chance b = 1 - u, each of the four alike
///     argument -> call                  chance f
///               | literal               chance 1 - f
///
/// whose chances were themselves drawn anew, and then thinned until depth and length resembled English. Here the number
/// of functions is given, and a source is drawn from that grammar *under the condition* that it has so many. Of the
/// chances only t = b (1 - f) / u is left then: a tree with n functions, k of them binary, has k + 1 literals and the
/// weight t^k. What the random chances and the thinning did is put into two more numbers: t falls with n as
/// kBinaryWeight * kBinaryDecay^n (many functions come from grammars with long unary chains), and each subtree of m
/// functions counts kDepthWeight^(m - 1), which favours flat trees. Hence the weight of all trees with m functions,
/// and with A(0) = 1 for a literal,
///
///     A(m) = kDepthWeight^(m-1) * ( A(m-1)  +  t * sum of A(i) A(m-1-i) over i = 0..m-1 )
///                                   unary            binary, i functions in the first argument
///
/// from which the function at the top of m, and the division of the rest, are drawn exactly. A literal has 2, 3, 4 or 5
/// symbols with the chances 17, 29, 28 and 27 of 101. A source is drawn again when it has more than 71 words, as none
/// of the corpus has, and with a chance of (symbols of its target) / 737: the corpus has no target of more than 736.
///
/// The three numbers were fitted to the corpus, beside which stands what ten default test sets, and all of one default
/// data set, have (tests/tasks/pcfg_marginals_test.cc):
///
///                                       corpus   drawn                                       corpus   drawn
///     9 functions and more:                               all:
///       words of the source               32.9    32.9      words of the source                18.3    18.3
///       longest source                      71      71      binary functions                 39.7 %  39.7 %
///       symbols of the target             15.4    15.4
///       binary functions                33.4 %  33.4 %
///       binary at the root                51 %  51.1 %
///
/// A source of more functions than any of the corpus (35) has nothing to resemble. There, a function is binary by a
/// chance of 39.7 %, and all divisions between two arguments are alike.
#include <cstdint>
#include <vector>

#include "core/rng.h"

namespace lengthwise {

inline constexpr int64_t kPcfgCorpusFunctions = 35;  ///< the most of any source
inline constexpr int64_t kPcfgCorpusWords = 71;
inline constexpr int64_t kPcfgCorpusTarget = 736;

/// Draws the tree of a source with a given number of functions, from the top.
class PcfgShape {
 public:
  /// The shape of sources of that many functions in all, 1 or more. `version` as in TaskInfo::data_version: the first
  /// drew all trees as those of more than 35 functions are drawn now.
  static const PcfgShape& of(int64_t functions, int64_t version);

  /// Whether the top function of a subtree of `functions` (1 or more) is binary.
  bool draw_binary(Rng& rng, int64_t functions) const;

  /// How many of the other functions the first argument of that binary function has.
  int64_t draw_first(Rng& rng, int64_t functions) const;

 private:
  PcfgShape() = default;
  explicit PcfgShape(int64_t functions);

  /// Chances in units of 2^-32: rounded so that neither compiler nor processor decides what is drawn. Empty: the shape
  /// beyond the corpus.
  std::vector<uint64_t> binary_;              ///< [functions of the subtree]
  std::vector<std::vector<uint64_t>> first_;  ///< [functions of the subtree][first argument], cumulative
};

/// How many symbols a literal has.
int draw_pcfg_literal(Rng& rng, int64_t version);

}  // namespace lengthwise
