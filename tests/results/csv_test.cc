// CSV as people and spreadsheets write it, and anybody's results in it.
#include "results/csv.h"

#include <gtest/gtest.h>

#include <ctime>

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
  CsvReader reader(
      "\xef\xbb\xbf"
      "a,\"b \"\"x\"\"\", c \r\n\"1,\n2\" ,3,\r\n\n4,5,6",
      "f");
  EXPECT_EQ(reader.header().fields, (std::vector<std::string>{"a", "b \"x\"", "c"}));
  CsvRow row;
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(row.fields, (std::vector<std::string>{"1,\n2", "3", ""}));
  EXPECT_EQ(row.line, 2);
  ASSERT_TRUE(reader.next(row));
  EXPECT_EQ(row.line, 5) << "lines inside quotes and empty lines count";
  EXPECT_FALSE(reader.next(row));
}

TEST(Csv, SaysWhereItIsBroken) {
  const auto message = [](const std::string& text) {
    try {
      CsvReader reader(text, "f");
      for (CsvRow row; reader.next(row);) {
      }
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
  EXPECT_EQ(CsvReader(text, "f").header().fields, fields);
}

TEST(Csv, NoTextIsAFormula) {
  for (const char* text : {"=1+1", "+cmd|x", "-a", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", "-", "--1", "+-1"}) {
    const std::string cell = text_cell(text);
    EXPECT_EQ(cell.front(), '\'') << text;
    EXPECT_EQ(cell_text(cell), text);
  }
  // Numbers and ordinary texts stay as they are, and so does somebody's apostrophe.
  for (const char* text : {"-1", "+2.5", "-1e-3", "", "nope", "rope lr=1", "'quoted'", "a=b", "T5's"}) {
    EXPECT_EQ(text_cell(text), text);
    EXPECT_EQ(cell_text(text), text);
  }
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
  EXPECT_DOUBLE_EQ(scores[0].accuracy.value(), 5 / 40.);
  EXPECT_DOUBLE_EQ(scores[0].trained.share(), .9);
  EXPECT_EQ(scores[0].train_limit, 3);
  ASSERT_EQ(scores[0].lengths.size(), 3u);
  EXPECT_EQ(scores[0].lengths.front().length, 3);
}

TEST(Scores, LengthsOfTrainingAreNotLonger) {
  const std::string header = "split,encoding,seed,accuracy,train_limit,set,length,count,correct\n";
  const auto scores = parse_scores(header + "sort,nope,1,.5,4,test,4,10,5\nsort,nope,1,.5,4,test,5,10,1\n", "r.csv");
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].train_limit, 4);
  EXPECT_EQ(scores[0].inside.correct, 5);
  EXPECT_EQ(scores[0].longer.correct, 1);
  EXPECT_DOUBLE_EQ(scores[0].accuracy.value(), .1);
  const auto none = parse_scores(header + "sort,nope,1,.5,4,test,4,10,5\n", "r.csv");
  EXPECT_FALSE(none[0].accuracy) << "there is no accuracy on longer lengths";
}

TEST(Scores, RefuseTheSameLengthTwiceAndCountsThatCannotBe) {
  const std::string header = "split,encoding,seed,accuracy,set,length,count,correct\n";
  EXPECT_EQ(error_of(header + "sort,nope,1,.5,test,4,10,5\nsort,nope,1,.5,test,4,10,5\n"),
            "r.csv: length 4 of nope on sort with seed 1 stands there twice");
  EXPECT_EQ(error_of(header + "sort,nope,1,.5,test,4,9999999999999999999,5\n"),
            "r.csv:2: count '9999999999999999999' is not a whole number from 0 to 1000000000");
  EXPECT_EQ(error_of(header + "sort,nope,1,.5,test,4,3,5\n"), "r.csv:2: 5 of 3 cannot be right");
}

TEST(Scores, AMillionLinesTakeSeconds) {
  std::string text = "split,encoding,seed,accuracy\n";
  for (int i = 0; i < 1'000'000; ++i) {
    text += fmt::format("s{},e{},{},0.{}\n", i % 100, i / 100 % 10, i / 1000, i % 97);
  }
  const std::clock_t begin = std::clock();
  EXPECT_EQ(parse_scores(text, "r.csv").size(), 1'000'000u);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 20) << "about 2 s";
}

}  // namespace
}  // namespace lengthwise
