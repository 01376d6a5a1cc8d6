// CSV as people and spreadsheets write it, and anybody's results in it.
#include "results/csv.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "results/read_scores.h"

namespace lengthwise {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_scores(text, "r.csv");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Csv, ReadsQuotesLineEndsAndAByteOrderMark) {
  const CsvTable table = parse_csv(
      "\xef\xbb\xbf"
      "a,\"b \"\"x\"\"\", c \r\n\"1,\n2\" ,3,\r\n\n4,5,6",
      "f");
  EXPECT_EQ(table.header.fields, (std::vector<std::string>{"a", "b \"x\"", "c"}));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].fields, (std::vector<std::string>{"1,\n2", "3", ""}));
  EXPECT_EQ(table.rows[0].line, 2);
  EXPECT_EQ(table.rows[1].line, 5) << "lines inside quotes and empty lines count";
}

TEST(Csv, SaysWhereItIsBroken) {
  const auto message = [](const std::string& text) {
    try {
      parse_csv(text, "f");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("a,b\n1\n"), "f:2: 1 fields, but the header has 2");
  EXPECT_EQ(message("a,b\n1,\"2\n"), "f:2: a quote is opened and never closed");
  EXPECT_EQ(message("a,b\n1,\"2\"x\n"),
            "f:2: 'x' stands behind a closing quote; a quote inside a quoted field is written twice");
  EXPECT_EQ(message("\n\n"), "f is empty; its first line must name the columns");
  EXPECT_EQ(message("\xff\xfe"
                    "a"),
            "f:1: the file is UTF-16; save it as UTF-8");
}

TEST(Csv, WhatIsWrittenReadsBack) {
  const std::vector<std::string> fields = {"plain", "a,b", "say \"x\"", "two\nlines", " spaced ", "", "T5's"};
  std::string text;
  append_csv_row(text, fields);
  EXPECT_EQ(parse_csv(text, "f").header.fields, fields);
}

TEST(Scores, ComeFromAnybodysTable) {
  const auto scores = parse_scores(
      "seed,encoding,accuracy,note,split,category\n"
      "146317,T5's Relative Bias,.5,x,rsc,primitive\n"
      "146317,\"NoPE\",+1e0,,rsc,primitive\n",
      "r.csv");
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].encoding, "T5's Relative Bias");
  EXPECT_EQ(scores[0].seed, "146317");
  EXPECT_EQ(scores[0].category, "primitive");
  EXPECT_EQ(scores[0].accuracy, .5);
  EXPECT_FALSE(scores[0].longer.known());
  EXPECT_EQ(scores[1].accuracy, 1);
}

TEST(Scores, NameTheBadCell) {
  const std::string header = "split,category,encoding,seed,accuracy\n";
  EXPECT_EQ(error_of(header + "a,b,c,1,high\n"), "r.csv:2: the accuracy 'high' is not a number");
  EXPECT_EQ(error_of(header + "a,b,c,1,nan\n"), "r.csv:2: the accuracy 'nan' is not a number");
  EXPECT_EQ(error_of(header + "a,b,c,1,98.6\n"),
            "r.csv:2: the accuracy 98.6 is not between 0 and 1; divide percentages by 100");
  EXPECT_EQ(error_of(header + "a,b,c,1,-1\n"), "r.csv:2: the accuracy -1 is not between 0 and 1");
  EXPECT_EQ(error_of(header + "a,b,c,1,\n"), "r.csv:2: accuracy is empty");
  EXPECT_EQ(error_of(header + "a,b,,1,.5\n"), "r.csv:2: encoding is empty");
  EXPECT_EQ(error_of(header + "a,b,c,1,.5\n\na,b,c,1,.5\n"), "r.csv:4: c on a with seed 1 stands in line 2 already");
  EXPECT_EQ(error_of(header), "r.csv has a header and no results");
  EXPECT_EQ(error_of("split;encoding;seed;accuracy\n"), "r.csv:1: the columns must be separated by commas");
  EXPECT_EQ(
      error_of("split,encoding,seed,acuracy\n"),
      "r.csv:1: there is no column 'accuracy' (but 'acuracy'); the first line must name split, category, encoding, "
      "seed and accuracy");
  EXPECT_EQ(error_of("split,split,encoding,seed,accuracy\n"), "r.csv:1: the column 'split' stands there twice");
}

TEST(Scores, OfOneSplitNameInTwoCategoriesAreTwoSplits) {
  // The authors call four different data sets `len_tr8_ts16`; categories, where given, keep them apart.
  const auto scores = parse_scores("split,category,encoding,seed,accuracy\na,x,nope,1,.1\na,y,nope,1,.2\n", "r.csv");
  EXPECT_EQ(scores.size(), 2u);
}

TEST(Scores, AreReadFromOurOwnTableByLength) {
  const auto scores = parse_scores(
      "run,split,category,task,encoding,seed,set,length,count,correct,accuracy,low,high,loss\n"
      "r,sort,reasoning,sort,nope,1,test,4,10,5,0.5,0.2,0.8,0.1\n"
      "r,sort,reasoning,sort,nope,1,validation,3,10,9,0.9,0.6,1,0.1\n"
      "r,sort,reasoning,sort,nope,1,test,5,30,0,0,0,0.1,0.1\n",
      "r.csv");
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_DOUBLE_EQ(scores[0].accuracy, 5 / 40.);
  EXPECT_DOUBLE_EQ(scores[0].trained.share(), .9);
  EXPECT_EQ(scores[0].train_limit, 3);
  ASSERT_EQ(scores[0].lengths.size(), 3u);
  EXPECT_EQ(scores[0].lengths.front().length, 3);
}

}  // namespace
}  // namespace lengthwise
