// The page as text; tools/test-report opens it in a browser.
#include "report/write_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "report/html.h"
#include "report/report_data.h"
#include "results/tidy.h"
#include "tests/core/temporary_folder.h"
#include "tests/results/made_run.h"

namespace lengthwise {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The JSON block of a page.
nlohmann::json data_of(const std::string& page) {
  const std::string open = "id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

void make_study(const TemporaryFolder& folder) {
  make_run(folder / "n1", {.encoding = "nope", .seed = 1, .longer_correct = 8});
  make_run(folder / "n2", {.encoding = "nope", .seed = 2, .longer_correct = 9});
  make_run(folder / "t1", {.encoding = "t5", .seed = 1, .longer_correct = 4});
  make_run(folder / "t2", {.encoding = "t5", .seed = 2, .trained_correct = 3, .longer_correct = 5});
  make_run(folder / "x<b>&", {.encoding = "t5", .seed = 3, .finished = false});
}

TEST(Html, IsEscaped) {
  EXPECT_EQ(html("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST(Html, JsonCannotEndItsScript) {
  const std::string text = script_json({{"a", "</script><!-- & \xff"}});
  EXPECT_FALSE(contains(text, "<")) << text;
  EXPECT_EQ(nlohmann::json::parse(text)["a"], "</script><!-- & \xef\xbf\xbd");
}

TEST(Html, TemplatesAreFilledOnce) {
  EXPECT_EQ(fill_template("{{a}} and {{b}}{{a}}", {{"a", "{{b}}"}, {"b", "2"}}), "{{b}} and 2{{b}}");
  EXPECT_THROW(fill_template("{{c}}", {}), std::logic_error);
}

TEST(Report, IsOneFileWithTheAnswerAndTheRankingInIt) {
  const TemporaryFolder folder;
  make_study(folder);
  write_report(folder.path());
  const std::string page = read_file(folder / "report.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(contains(page, "<p class=\"answer\" id=\"answer\">NoPE works best on longer sequences"));
  EXPECT_LT(page.find("data-encoding=\"nope\""), page.find("data-encoding=\"t5\""));
  EXPECT_TRUE(contains(page, "4 of 5 runs finished"));
  EXPECT_TRUE(contains(page, "T5 did not fit the training lengths of sort"));
  EXPECT_TRUE(contains(page, "Run x&lt;b&gt;&amp; is unfinished at step 50 of 100."));
  EXPECT_EQ(count(page, "<script"), 2u) << "what a run says is not let into the page";
  EXPECT_FALSE(contains(page, "http://") && contains(page, "src=\"http"));
  for (const char* outside : {"src=\"", "@import", "url(", "fetch(", "XMLHttpRequest", "https://"}) {
    EXPECT_FALSE(contains(page, outside)) << outside;
  }
  EXPECT_EQ(read_file(folder / "results.csv"), tidy_csv(load_results(folder.path())));
}

TEST(Report, CarriesTheNumbersOfTheRuns) {
  const TemporaryFolder folder;
  make_study(folder);
  write_report(folder.path());
  const nlohmann::json data = data_of(read_file(folder / "report.html"));
  ASSERT_EQ(data["runs"].size(), 5u);
  EXPECT_EQ(data["runs"][0]["lengths"], nlohmann::json::parse("[[1,1,10,10],[2,1,10,10],[3,0,10,8],[4,0,10,4]]"));
  EXPECT_EQ(data["runs"][0]["examples"][0]["prompt"], "Sort </script> 3 1 2 ?");
  EXPECT_EQ(data["runs"][4]["state"], "unfinished");
  EXPECT_DOUBLE_EQ(data["cells"][0]["longer"][0], (12 / 20. + 13 / 20.) / 2);
  EXPECT_EQ(data["common"]["task"], "sort");
  EXPECT_FALSE(data["runs"][0]["options"].contains("task"));
}

TEST(Report, IsTheSameToTheByte) {
  const TemporaryFolder folder;
  make_study(folder);
  write_report(folder.path());
  const std::string first = read_file(folder / "report.html");
  write_report(folder.path());
  EXPECT_TRUE(first == read_file(folder / "report.html"));
}

TEST(Report, OfRunsThatHaveNotFinishedSaysSo) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.finished = false});
  write_report(folder.path());
  EXPECT_TRUE(contains(read_file(folder / "report.html"), "No run has finished yet"));
}

TEST(Report, CanBeWrittenElsewhere) {
  const TemporaryFolder folder;
  make_run(folder / "a", {});
  make_folder(folder / "out");
  write_report(folder / "a", {.out = folder / "out" / "page.html"});
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "page.html"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "results.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a" / "report.html"));
}

TEST(Curves, AreThinnedToMeans) {
  std::vector<CurvePoint> points;
  for (int64_t i = 1; i <= 100; ++i) points.push_back({i, static_cast<double>(i)});
  const std::vector<CurvePoint> thinned = thin_curve(points, 10);
  ASSERT_EQ(thinned.size(), 10u);
  EXPECT_EQ(thinned[0].step, 10);
  EXPECT_DOUBLE_EQ(thinned[0].value, 5.5);
  EXPECT_EQ(thinned[9].step, 100);
  EXPECT_EQ(thin_curve(points, 1000).size(), 100u);
}

}  // namespace
}  // namespace lengthwise
