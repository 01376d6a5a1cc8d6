#pragma once
/// One run of a ledger: what it was and what it gave, in a small file that is kept when the run's folder is not.
///
/// A ledger is a folder of such files, `NAME.json`, one a run (docs/formats.md). They are written by `lengthwise ledger
/// add` alone and never edited by hand.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lengthwise {

/// Examples of one length and how many of them were right.
struct LedgerLength {
  int64_t length = 0;
  int64_t count = 0;
  int64_t correct = 0;
};

/// Examples of several lengths, ascending.
struct LedgerSet {
  std::vector<LedgerLength> lengths;

  int64_t count() const;
  int64_t correct() const;
  double share() const;  ///< of those that were right; not a number where there are none
};

/// How one selection of weights did.
struct LedgerWeights {
  int64_t step = 0;   ///< they were saved at
  LedgerSet trained;  ///< validation examples, of lengths that occur in training
  LedgerSet longer;   ///< test examples
};

struct LedgerEntry {
  std::string run;       ///< name of its folder
  std::string commit;    ///< of the program that finished it
  std::string machine;   ///< name of the GPU or the CPU
  bool recorded = true;  ///< by the program itself; otherwise somebody said so
  std::string program;   ///< version
  double seconds = 0;    ///< of wall clock for the run
  /// Of the machine's time: less than `seconds` where several runs shared it.
  double machine_seconds = 0;
  std::map<std::string, std::string> options;  ///< of config.json; null is ""
  LedgerWeights best;                          ///< chosen by validation
  LedgerWeights last;

  std::string file_name() const { return run + ".json"; }
  const std::string& option(const std::string& name) const;
};

/// The entries of a finished run, or of the finished runs of a study or of any folder with runs in it, and how many
/// there are that are not finished. UserError when a run is damaged, or when neither it nor `given` says by which
/// commit and on which machine it was made.
struct NewEntries {
  std::vector<LedgerEntry> entries;
  size_t unfinished = 0;
};

/// For runs of earlier versions, which did not record it.
struct GivenOrigin {
  std::string commit;
  std::string machine;
};
NewEntries entries_of(const std::filesystem::path& folder, const GivenOrigin& given = {});

std::string entry_text(const LedgerEntry& entry);
/// `where` names the file in errors.
LedgerEntry parse_entry(const std::string& text, const std::string& where);

/// All entries of a ledger, by name. UserError when there is none.
std::vector<LedgerEntry> read_ledger(const std::filesystem::path& ledger);

/// UserError when the ledger has another run, or other results of the run, under that name, unless `replace`.
void check_entry(const std::filesystem::path& ledger, const LedgerEntry& entry, bool replace);

/// Writes the entry's file. False when it is there already with the same content.
bool write_entry(const std::filesystem::path& ledger, const LedgerEntry& entry);

}  // namespace lengthwise
