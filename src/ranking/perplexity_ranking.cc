#include "ranking/perplexity_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/printable.h"
#include "core/table.h"
#include "results/encoding_names.h"

namespace lengthwise {
namespace {

void rank(PerplexityRanking& ranking) {
  const bool any_longer = ranking.contexts.back() > ranking.trained;
  for (size_t context = 0; context < ranking.contexts.size(); ++context) {
    for (PerplexityRanking::Row& row : ranking.rows) {
      ContextPlace& own = row.places[context];
      if (own.seeds == 0) continue;
      own.rank = 1 + std::count_if(ranking.rows.begin(), ranking.rows.end(), [&](const auto& other) {
                   return other.places[context].seeds > 0 && other.places[context].nats < own.nats;
                 });
    }
  }
  for (PerplexityRanking::Row& row : ranking.rows) {
    int64_t counted = 0;
    for (size_t context = 0; context < ranking.contexts.size(); ++context) {
      const bool counts = !any_longer || ranking.contexts[context] > ranking.trained;
      if (!counts || row.places[context].seeds == 0) continue;
      row.mean_rank += static_cast<double>(row.places[context].rank);
      ++counted;
    }
    row.mean_rank = counted == 0 ? HUGE_VAL : row.mean_rank / static_cast<double>(counted);
  }
  std::stable_sort(ranking.rows.begin(), ranking.rows.end(),
                   [](const auto& a, const auto& b) { return a.mean_rank < b.mean_rank; });
}

std::string multiple(int64_t context, int64_t trained) {
  return fmt::format("{:g}", static_cast<double>(context) / static_cast<double>(trained));
}

std::string sentence_of(const PerplexityRanking& ranking) {
  if (ranking.rows.size() < 2 || ranking.contexts.back() <= ranking.trained) return "";
  const PerplexityRanking::Row& first = ranking.rows[0];
  const PerplexityRanking::Row& second = ranking.rows[1];
  size_t longest = ranking.contexts.size();
  while (longest > 0 && (first.places[longest - 1].seeds == 0 || second.places[longest - 1].seeds == 0)) --longest;
  if (longest == 0 || ranking.contexts[longest - 1] <= ranking.trained) return "";
  const int64_t context = ranking.contexts[longest - 1];
  const ContextPlace& one = first.places[longest - 1];
  const ContextPlace& two = second.places[longest - 1];
  const auto trained = std::lower_bound(ranking.contexts.begin(), ranking.contexts.end(), ranking.trained);
  const ContextPlace& before = first.places[static_cast<size_t>(trained - ranking.contexts.begin())];
  const std::string at_training = *trained == ranking.trained && before.seeds > 0
                                      ? fmt::format("; {:.2f} at the trained length", before.perplexity())
                                      : "";
  std::string text = fmt::format(
      "{} reads contexts longer than the {} tokens of training best (mean rank {:.2f}, ahead of {} with {:.2f}): its "
      "perplexity is {:.2f} at {} tokens ({} times as many{}), that of {} {:.2f}",
      first.label, ranking.trained, first.mean_rank, second.label, second.mean_rank, one.perplexity(), context,
      multiple(context, ranking.trained), at_training, second.label, two.perplexity());
  const int64_t seeds = std::min(one.seeds, two.seeds);
  if (seeds == 1) {
    text += "; with one seed a small lead says little";
  } else if (one.most >= two.least && two.most >= one.least) {
    text += fmt::format("; the {} seeds of the two overlap, so that the lead could be chance", seeds);
  }
  return text + ". Windows without overlap.";
}

}  // namespace

double ContextPlace::perplexity() const {
  return std::exp(nats);
}

void ContextPlace::add(double seed_nats) {
  least = seeds == 0 ? seed_nats : std::min(least, seed_nats);
  most = seeds == 0 ? seed_nats : std::max(most, seed_nats);
  nats += (seed_nats - nats) / static_cast<double>(++seeds);
}

std::string ContextPlace::cell() const {
  if (seeds == 0) return "";
  const std::string mean = fmt::format("{:.3f}", perplexity());
  return seeds == 1 ? mean : mean + fmt::format(" ({:.3f}-{:.3f})", std::exp(least), std::exp(most));
}

std::string context_heading(int64_t context, int64_t trained) {
  return fmt::format("{} ({}x)", context, multiple(context, trained));
}

bool is_text(const Score& score) {
  return score.category == "text" && score.train_limit;
}

std::vector<Score> take_text(std::vector<Score>& scores) {
  const auto others = std::stable_partition(scores.begin(), scores.end(), is_text);
  std::vector<Score> text(std::make_move_iterator(scores.begin()), std::make_move_iterator(others));
  scores.erase(scores.begin(), others);
  return text;
}

std::vector<PerplexityRanking> rank_perplexity(const std::vector<Score>& scores) {
  std::vector<PerplexityRanking> rankings;
  std::map<std::string, std::map<int64_t, bool>> contexts;
  for (const Score& score : scores) {
    if (!is_text(score)) continue;
    for (const LengthCount& row : score.lengths) {
      if (!row.validation) contexts[score.split][row.length] = true;
    }
  }
  for (const Score& score : scores) {
    if (!is_text(score) || contexts[score.split].empty()) continue;
    auto ranking = std::find_if(rankings.begin(), rankings.end(),
                                [&](const PerplexityRanking& known) { return known.split == score.split; });
    if (ranking == rankings.end()) {
      ranking = rankings.insert(ranking, {score.split, *score.train_limit, {}, {}});
      for (const auto& [context, there] : contexts[score.split]) ranking->contexts.push_back(context);
    }
    auto row = std::find_if(ranking->rows.begin(), ranking->rows.end(),
                            [&](const auto& known) { return known.encoding == score.encoding; });
    if (row == ranking->rows.end()) {
      const std::string label = score.label.empty() ? encoding_label(score.encoding) : score.label;
      row = ranking->rows.insert(row, {score.encoding, label, std::vector<ContextPlace>(ranking->contexts.size()), 0});
    }
    for (const LengthCount& length : score.lengths) {
      if (length.validation) continue;
      const auto at = std::lower_bound(ranking->contexts.begin(), ranking->contexts.end(), length.length);
      row->places[static_cast<size_t>(at - ranking->contexts.begin())].add(length.loss);
    }
  }
  for (PerplexityRanking& ranking : rankings) rank(ranking);
  return rankings;
}

std::string perplexity_tables(const std::vector<PerplexityRanking>& rankings) {
  std::string text;
  for (const PerplexityRanking& ranking : rankings) {
    std::vector<std::string> header{"encoding", "mean rank"};
    for (const int64_t context : ranking.contexts) header.push_back(context_heading(context, ranking.trained));
    Table table(header);
    for (const PerplexityRanking::Row& row : ranking.rows) {
      std::vector<std::string> cells{printable(row.encoding), fmt::format("{:.2f}", row.mean_rank)};
      for (const ContextPlace& place : row.places) cells.push_back(place.cell());
      table.add(cells);
    }
    text += fmt::format(
        "{}: perplexity by context, trained at {}; windows without overlap, mean of seeds (least-most); ranked by the "
        "contexts longer than the trained one\n{}\n",
        printable(ranking.split), ranking.trained, table.to_string());
  }
  return text;
}

std::string perplexity_answer(const std::vector<PerplexityRanking>& rankings) {
  std::string text;
  for (const PerplexityRanking& ranking : rankings) {
    const std::string sentence = sentence_of(ranking);
    if (sentence.empty()) continue;
    if (!text.empty()) text += " ";
    text += rankings.size() > 1 ? fmt::format("{}: {}", ranking.split, sentence) : sentence;
  }
  return text;
}

}  // namespace lengthwise
