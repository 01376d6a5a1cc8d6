#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/table.h"
#include "text/prepare.h"
#include "text/train_tokenizer.h"

namespace lengthwise {
namespace {

struct PrepareConfig {
  PrepareOptions files;
  std::string tokenizer = "bytes";
  std::string out;
  bool quiet = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("tokenizer", tokenizer, "bytes, or the file of a SentencePiece model");
    field("hold-out", files.hold_out,
          "without --validation and --test: the share of the text, from its end, that each of them gets; 0: nothing");
    field("out", out, "the folder to write; must not exist, or be empty");
    field("quiet", quiet, "no progress");
  }
};

struct TokenizerConfig {
  std::vector<std::filesystem::path> files;
  TokenizerOptions options;
  std::string out;
  bool quiet = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("size", options.size, "tokens, the 256 bytes included");
    field("lines", options.lines, "lines to learn from, drawn from all of them");
    field("seed", options.seed, "seed of that draw");
    field("out", out, "the file to write; must not exist");
    field("quiet", quiet, "no progress");
  }
};

Progress::Mode mode_of(bool quiet) {
  return quiet ? Progress::Mode::quiet : Progress::Mode::automatic;
}

void prepare(const PrepareConfig& config) {
  if (config.out.empty()) fail("no folder to write: name one with --out");
  const std::unique_ptr<Tokenizer> tokenizer = make_tokenizer(config.tokenizer);
  TextManifest manifest;
  {
    Progress progress(mode_of(config.quiet));
    manifest = prepare_text(config.files, *tokenizer, config.out, progress);
  }
  Table table({"split", "documents", "bytes", "tokens", "longest document"});
  for (const TextSplit split : kTextSplits) {
    const SplitManifest& counts = manifest.of(split);
    table.add({name_of(split), std::to_string(counts.documents), std::to_string(counts.bytes),
               std::to_string(counts.tokens), std::to_string(counts.longest_document)});
  }
  std::cout << table.to_string()
            << fmt::format("\n{}: {} tokens in the vocabulary; `lengthwise train --text {}` trains on it\n",
                           shown(config.out), std::ssize(manifest.texts) + kTextSpecials, shown(config.out));
}

void make_model(const TokenizerConfig& config) {
  if (config.out.empty()) fail("no file to write: name one with --out");
  {
    Progress progress(mode_of(config.quiet));
    train_tokenizer(config.files, config.options, config.out, progress);
  }
  std::cout << fmt::format("{}: {} tokens; `lengthwise text prepare FILE... --tokenizer {}` uses them\n",
                           shown(config.out), config.options.size, shown(config.out));
}

}  // namespace

void add_text_command(CLI::App& app) {
  CLI::App& command = add_command(app, "text", "make files of text ready to train on");
  command.callback([&command] {
    if (command.get_subcommands().empty()) std::cout << command.help();
  });

  CLI::App& prepare_command = add_command(command, "prepare", "cut files of text into tokens (docs/text.md)");
  auto prepare_config = std::make_shared<PrepareConfig>();
  PrepareOptions& files = prepare_config->files;
  prepare_command
      .add_option("FILE", files.train,
                  "UTF-8 text to train on, also packed by xz or gzip; documents are separated by a form feed, or one a "
                  "file")
      ->required();
  prepare_command.add_option("--validation", files.validation, "text to choose the best weights by");
  prepare_command.add_option("--test", files.test, "text to measure the result on");
  add_options(prepare_command, *prepare_config);
  prepare_command.callback([prepare_config] { prepare(*prepare_config); });

  CLI::App& tokenizer = add_command(command, "tokenizer", "make a subword vocabulary from text (SentencePiece)");
  auto tokenizer_config = std::make_shared<TokenizerConfig>();
  tokenizer.add_option("FILE", tokenizer_config->files, "UTF-8 text, also packed by xz or gzip")->required();
  add_options(tokenizer, *tokenizer_config);
  tokenizer.callback([tokenizer_config] { make_model(*tokenizer_config); });
}

}  // namespace lengthwise
