#include "data/export.h"

#include "core/files.h"
#include "core/folder_aside.h"
#include "data/data_set.h"
#include "data/jsonl.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

int64_t write_split(const ExampleSource& source, Split split, const fs::path& path) {
  AtomicFile file(path);
  Example example;
  std::string line;
  for (int64_t i = 0; i < source.count(split); ++i) {
    source.get(split, i, example);
    line.clear();
    append_jsonl(line, example);
    file.write(line);
  }
  file.commit();
  return source.count(split);
}

}  // namespace

SplitCounts export_data(const DataConfig& config, const std::filesystem::path& folder) {
  const ResolvedData data = resolve(config);
  FolderAside aside(folder);  // before the long work, so that a folder that cannot be written is refused at once
  std::unique_ptr<ExampleSource> source = make_source(data);
  if (data.dedup) {
    DataConfig everything = config;
    everything.dedup = false;
    Unseen unseen = find_unseen(build_data_set(everything, *source, 0));
    source = std::make_unique<SelectedSource>(std::move(source), std::move(unseen.validation), std::move(unseen.test));
  }
  SplitCounts exported;
  exported.train = write_split(*source, Split::train, aside.path() / "train.jsonl");
  exported.validation = write_split(*source, Split::validation, aside.path() / "validation.jsonl");
  exported.test = write_split(*source, Split::test, aside.path() / "test.jsonl");
  aside.commit();
  return exported;
}

}  // namespace lengthwise
