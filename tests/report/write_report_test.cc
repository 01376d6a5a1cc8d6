// The page as text; tools/test-report opens it in a browser.
#include "report/write_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base64.h"
#include "core/error.h"
#include "core/files.h"
#include "report/content_policy.h"
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
  EXPECT_TRUE(contains(page,
                       "1 of 4 runs did not fit the training lengths (accuracy below 0.9 on them) and is ranked "
                       "like the others."));
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
  write_file(folder / "out" / "results.csv", "name,score\n");
  write_report(folder / "a", {.out = folder / "out" / "page.html"});
  EXPECT_TRUE(contains(read_file(folder / "out" / "page.html"), "<code>page.csv</code>"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "page.csv"));
  EXPECT_EQ(read_file(folder / "out" / "results.csv"), "name,score\n") << "somebody else's";
  EXPECT_FALSE(std::filesystem::exists(folder / "a" / "report.html"));
}

TEST(Report, ReplacesNoTableOfSomebodyElse) {
  const TemporaryFolder folder;
  make_run(folder / "a", {});
  write_file(folder / "results.csv", "name,score\n");
  const auto error = [&](const ReportOptions& options) {
    try {
      write_report(folder.path(), options);
    } catch (const UserError& user_error) {
      return std::string(user_error.what());
    }
    return std::string();
  };
  EXPECT_TRUE(contains(error({}), "results.csv is not a table of results and would be overwritten"));
  EXPECT_FALSE(std::filesystem::exists(folder / "report.html")) << "nothing is written then";
  EXPECT_EQ(read_file(folder / "results.csv"), "name,score\n");
  EXPECT_TRUE(contains(error({.out = folder / "x.csv"}), "a page is called NAME.html"));
  EXPECT_EQ(error({.out = folder / "mine.html"}), "");
  EXPECT_EQ(error({.out = folder / "mine.html"}), "") << "one's own table may be replaced";
}

TEST(Report, AllowsItsOwnScriptAndStyleAndNothingElse) {
  const TemporaryFolder folder;
  make_study(folder);
  write_report(folder.path());
  const std::string page = read_file(folder / "report.html");
  const auto between = [&](const std::string& open, const std::string& close) {
    const size_t begin = page.rfind(open) + open.size();
    return page.substr(begin, page.find(close, begin) - begin);
  };
  EXPECT_TRUE(contains(
      page, "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
                html(content_policy(between("<style>", "</style>"), between("<script>", "</script>"))) + "\">"));
  EXPECT_FALSE(contains(page, "unsafe")) << "hashes, no exceptions";
  EXPECT_FALSE(contains(page, " style=\"")) << "the policy would not let it count";
}

TEST(Report, SaysWhatCannotBeRead) {
  const TemporaryFolder folder;
  make_study(folder);
  write_file(folder / "n2" / "eval.jsonl", "garbage\n");
  write_report(folder.path());
  const std::string page = read_file(folder / "report.html");
  EXPECT_TRUE(contains(page, "3 of 5 runs finished, 1 cannot be read"));
  EXPECT_TRUE(contains(page, "Run n2 cannot be read and does not count: eval.jsonl:1: not valid JSON at byte 1."));
}

TEST(Report, ShowsWhatWasChosen) {
  const TemporaryFolder folder;
  int number = 0;
  for (const char* encoding : {"nope", "t5"}) {
    for (int64_t rate = 1; rate <= 2; ++rate) {
      const std::string name = std::to_string(number++);
      make_run(folder / "runs" / name,
               {.encoding = encoding, .options = {{"lr", rate}}, .trained_correct = rate == 2 ? 10 : 9});
    }
  }
  write_file(folder / "study.json", R"({"format":"lengthwise-study","version":1,"name":"tuned","tune":["lr"],"runs":[
    {"name":"0"},{"name":"1"},{"name":"2"},{"name":"3"}]})");
  write_report(folder.path());
  const std::string page = read_file(folder / "report.html");
  EXPECT_TRUE(contains(page, "<td>lr=2 <span class=\"interval\">of 2</span></td>"));
  const nlohmann::json data = data_of(page);
  EXPECT_EQ(data["runs"][0]["aside"], "not chosen");
  EXPECT_FALSE(data["runs"][1].contains("aside"));
  EXPECT_EQ(data["splits"].size(), 1u);
}

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const uint8_t byte : sha256(bytes)) text += fmt::format("{:02x}", byte);
  return text;
}

TEST(ContentPolicy, HashesAsTheStandardSays) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
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
