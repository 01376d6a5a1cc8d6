#include "report/first_screen.h"

#include <algorithm>
#include <set>

#include "core/counted.h"
#include "ranking/answer.h"
#include "report/families.h"
#include "report/html.h"
#include "report/palette.h"

namespace lengthwise {
namespace {

std::string estimate_html(const std::optional<Estimate>& estimate, const char* format_class) {
  if (!estimate) return fmt::format("<td class=\"{}\">–</td>", format_class);
  return fmt::format(
      "<td class=\"{}\" data-value=\"{}\"><b>{:.3f}</b> <span class=\"interval\">{:.2f}–{:.2f}</span></td>",
      format_class, estimate->value, estimate->value, estimate->low, estimate->high);
}

/// A dot and its interval on a line from 0 to `most`, with a tick where chance would be.
std::string dot_plot(const Estimate& estimate, size_t encoding, const LineStyle& style, double chance, double most) {
  constexpr double kWidth = 180;
  const auto x = [&](double share) { return 4 + share / most * (kWidth - 8); };
  return fmt::format(
      "<svg class=\"dots\" viewBox=\"0 0 {0} 18\" width=\"{0}\" height=\"18\" aria-hidden=\"true\">"
      "<line class=\"base\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"9\" y2=\"9\"/>"
      "<line class=\"chance\" x1=\"{3:.1f}\" x2=\"{3:.1f}\" y1=\"3\" y2=\"15\"/>"
      "<line class=\"range\" x1=\"{4:.1f}\" x2=\"{5:.1f}\" y1=\"9\" y2=\"9\" stroke=\"var(--e{6})\"/>"
      "<path d=\"{7}\" fill=\"{8}\" stroke=\"var(--e{6})\"/></svg>",
      kWidth, x(0), x(most), x(chance), x(estimate.low), x(estimate.high), encoding,
      marker_path(style.marker, x(estimate.value), 9, 4.5),
      marker_fill(style.marker, fmt::format("var(--e{})", encoding)));
}

std::string swatch(size_t encoding, const LineStyle& style) {
  return fmt::format(
      "<svg class=\"swatch\" viewBox=\"0 0 30 12\" width=\"30\" height=\"12\" aria-hidden=\"true\">"
      "<line x1=\"1\" x2=\"29\" y1=\"6\" y2=\"6\" stroke=\"var(--e{0})\" stroke-dasharray=\"{1}\"/>"
      "<path d=\"{2}\" fill=\"{3}\" stroke=\"var(--e{0})\"/></svg>",
      encoding, style.dash, marker_path(style.marker, 15, 6, 3.2),
      marker_fill(style.marker, fmt::format("var(--e{})", encoding)));
}

/// The mean reciprocal rank in a category. Where there are many encodings its interval is written as well; a few rows
/// have it on hover, and room for larger letters.
std::string category_html(const std::optional<Estimate>& mrr, bool many) {
  if (!mrr) return "<td class=\"number\">–</td>";
  if (!many) {
    return fmt::format("<td class=\"number\" title=\"{:.2f}–{:.2f}\">{:.3f}</td>", mrr->low, mrr->high, mrr->value);
  }
  return fmt::format("<td class=\"number\" data-value=\"{}\">{:.3f} <span class=\"interval\">{:.2f}–{:.2f}</span></td>",
                     mrr->value, mrr->value, mrr->low, mrr->high);
}

std::string list_html(const std::vector<std::string>& lines, const char* list_class) {
  constexpr size_t kShown = 6;
  const auto items = [&](size_t begin, size_t end) {
    std::string text;
    for (size_t i = begin; i < end; ++i) text += fmt::format("<li>{}</li>", html(lines[i]));
    return text;
  };
  if (lines.empty()) return "";
  std::string text = fmt::format("<ul class=\"{}\">{}</ul>", list_class, items(0, std::min(kShown, lines.size())));
  if (lines.size() > kShown) {
    text += fmt::format("<details><summary>and {} more</summary><ul class=\"{}\">{}</ul></details>",
                        lines.size() - kShown, list_class, items(kShown, lines.size()));
  }
  return text;
}

}  // namespace

std::string ranking_html(const Comparison& comparison) {
  if (comparison.ranking.empty()) return "";
  const bool ranked = comparison.ranking.front().mrr.has_value();
  // With one category its column would repeat the total.
  const bool by_category = ranked && comparison.categories.size() > 1;
  const bool many = comparison.encodings.size() > kFewEncodings;
  const std::vector<LineStyle> styles = line_styles(comparison);
  const double chance = chance_reciprocal_rank(comparison.encodings.size());
  double most = many ? chance : 1;
  for (const RankedEncoding& row : comparison.ranking) most = std::max(most, row.mrr ? row.mrr->high : 0);
  std::string text = fmt::format(
      "<div class=\"scroll\"><table class=\"ranking{}\" id=\"ranking\"><thead><tr><th></th><th>Encoding</th>",
      many ? " many" : "");
  if (many) text += "<th class=\"family\">Family</th>";
  if (ranked) text += "<th colspan=\"2\">Mean reciprocal rank</th>";
  if (by_category) {
    for (const std::string& category : comparison.categories) {
      text += fmt::format("<th class=\"number\">{}</th>", html(category.empty() ? "other" : category));
    }
  }
  text +=
      "<th class=\"number\" title=\"test examples longer than any in training\">Longer lengths</th><th "
      "class=\"number\">Training lengths</th></tr></thead><tbody>";
  size_t place = 0;
  for (const RankedEncoding& row : comparison.ranking) {
    ++place;
    const std::string& name = comparison.encodings[row.encoding];
    text += fmt::format(
        "<tr data-encoding=\"{}\" data-row-e=\"{}\"><td class=\"place\">{}</td><th scope=\"row\" "
        "title=\"{}\">{}{}</th>",
        html(name), row.encoding, place, html(name), swatch(row.encoding, styles[row.encoding]),
        html(comparison.labels[row.encoding]));
    if (many)
      text += fmt::format("<td class=\"family\">{}</td>", html(family_called(comparison.families[row.encoding]).label));
    if (ranked) {
      text += fmt::format("<td>{}</td>",
                          row.mrr ? dot_plot(*row.mrr, row.encoding, styles[row.encoding], chance, most) : "");
      text += estimate_html(row.mrr, "number mrr");
    }
    if (by_category) {
      for (const auto& mrr : row.category_mrr) text += category_html(mrr, many);
    }
    text += estimate_html(row.longer, "number longer") + estimate_html(row.trained, "number trained") + "</tr>";
  }
  text += "</tbody></table></div>";
  if (ranked) {
    text += fmt::format(
        "<p class=\"fine\">Ranks over {}; {}. The tick marks chance, {:.3f}. Accuracies are means over {}s. "
        "Ranges are 95 % bootstrap intervals.</p>",
        counted(comparison.queries, "comparison"), describe(comparison.options.ties), chance, split_noun(comparison));
  }
  return text;
}

std::string facts_html(const Results& results, const Comparison& comparison) {
  std::set<std::string> seeds;
  for (const ComparedSplit& split : comparison.splits) seeds.insert(split.seeds.begin(), split.seeds.end());
  const size_t damaged = results.count(StoredState::damaged);
  return fmt::format("{} of {} finished{} · {} · {} · {}", results.count(StoredState::finished),
                     counted(results.runs.size(), "run"),
                     damaged == 0 ? "" : fmt::format(", {} cannot be read", damaged),
                     counted(comparison.splits.size(), split_noun(comparison)),
                     counted(comparison.encodings.size(), "encoding"), counted(seeds.size(), "seed"));
}

std::string cautions_html(const Results& results, const Comparison& comparison) {
  std::vector<std::string> warnings;
  for (const StoredRun& run : results.runs) {
    if (run.state != StoredState::damaged) continue;
    warnings.push_back(fmt::format("Run {} cannot be read and does not count: {}.", run.name, run.reason));
  }
  warnings.insert(warnings.end(), comparison.warnings.begin(), comparison.warnings.end());
  for (const StoredState state :
       {StoredState::failed, StoredState::unfinished, StoredState::running, StoredState::waiting}) {
    for (const StoredRun& run : results.runs) {
      if (run.state != state) continue;
      std::string line = fmt::format("Run {} is {}", run.name, to_text(state));
      if (state == StoredState::failed) line = fmt::format("Run {} failed", run.name);
      if (run.steps > 0 && state != StoredState::waiting) line += fmt::format(" at step {} of {}", run.step, run.steps);
      warnings.push_back(line +
                         (run.reason.empty() ? "." : ": " + run.reason + (run.reason.ends_with(".") ? "" : ".")));
    }
  }
  std::string text;
  if (!warnings.empty()) {
    text += "<aside class=\"warnings\" aria-label=\"Warnings\"><h2>Read with care</h2>" +
            list_html(warnings, "warning") + "</aside>";
  }
  std::vector<std::string> notes = comparison.notes;
  notes.insert(notes.end(), results.notes.begin(), results.notes.end());
  if (!notes.empty()) text += "<div class=\"notes\">" + list_html(notes, "note") + "</div>";
  return text;
}

std::string choices_html(const Comparison& comparison) {
  if (comparison.choices.empty()) return "";
  std::vector<std::string> splits;
  for (const TunedChoice& choice : comparison.choices) {
    if (std::find(splits.begin(), splits.end(), choice.split) == splits.end()) splits.push_back(choice.split);
  }
  std::string text =
      "<section id=\"choices\"><h2>Chosen by validation</h2><p class=\"about\">The value of the tuned options for "
      "every "
      "encoding on every split: the one with the best accuracy on validation examples, mean over seeds. Only these "
      "runs "
      "are compared.</p><div class=\"scroll\"><table class=\"data\"><thead><tr><th scope=\"col\">Encoding</th>";
  for (const std::string& split : splits) text += fmt::format("<th scope=\"col\">{}</th>", html(split));
  text += "</tr></thead><tbody>";
  for (const std::string& encoding : comparison.encodings) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", html(comparison.label_of(encoding)));
    for (const std::string& split : splits) {
      const TunedChoice* choice = comparison.choice(split, encoding);
      text += choice == nullptr ? std::string("<td>–</td>")
                                : fmt::format("<td>{} <span class=\"interval\">of {}</span></td>",
                                              html(choice->tried[choice->chosen].value), choice->tried.size());
    }
    text += "</tr>";
  }
  return text + "</tbody></table></div></section>";
}

std::string colours_css(const Comparison& comparison) {
  const std::vector<LineStyle> styles = line_styles(comparison);
  const std::vector<Family> families = families_among(comparison.families);
  std::string light;
  std::string dark;
  for (size_t e = 0; e < styles.size(); ++e) {
    light += fmt::format("--e{}:{};", e, styles[e].light);
    dark += fmt::format("--e{}:{};", e, styles[e].dark);
  }
  for (size_t f = 0; f < families.size(); ++f) {
    light += fmt::format("--f{}:{};", f, families[f].light);
    dark += fmt::format("--f{}:{};", f, families[f].dark);
  }
  return fmt::format(
      ":root{{{0}}}\n@media screen{{:root[data-theme=dark]{{{1}}}}}\n"
      "@media screen and (prefers-color-scheme:dark){{:root:not([data-theme]){{{1}}}}}\n",
      light, dark);
}

}  // namespace lengthwise
