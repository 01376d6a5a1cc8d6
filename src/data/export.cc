#include "data/export.h"

#include <unistd.h>

#include "core/error.h"
#include "core/files.h"
#include "data/data_set.h"
#include "data/jsonl.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// A folder beside the one that is wanted; removed with all its files unless it was renamed into place.
class FolderAside {
 public:
  explicit FolderAside(const fs::path& folder)
      : path_(absolute_path(folder / "").lexically_normal().parent_path()),
        aside_(path_.string() + fmt::format(".{}.part", ::getpid())) {
    if (folder.empty()) fail("the name of the folder to write is empty");
    if (is_there(path_) && !(is_folder(path_) && list_folder(path_).empty())) {
      fail("{} exists already{}; name a new folder", shown(folder),
           is_folder(path_) ? " and is not empty" : " and is not a folder");
    }
    make_folder(aside_);
  }
  ~FolderAside() {
    std::error_code ignored;
    fs::remove_all(aside_, ignored);
  }
  FolderAside(const FolderAside&) = delete;
  FolderAside& operator=(const FolderAside&) = delete;

  const fs::path& path() const { return aside_; }

  void commit() {
    std::error_code error;
    fs::rename(aside_, path_, error);  // replaces an empty folder, never a full one
    if (error) fail("cannot create the folder {}: {}", path_.string(), error.message());
  }

 private:
  fs::path path_;
  fs::path aside_;
};

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

Exported export_data(const DataConfig& config, const std::filesystem::path& folder) {
  const ResolvedData data = resolve(config);
  FolderAside aside(folder);  // before the long work, so that a folder that cannot be written is refused at once
  std::unique_ptr<ExampleSource> source = make_source(data);
  if (data.dedup) {
    DataConfig everything = config;
    everything.dedup = false;
    Unseen unseen = find_unseen(build_data_set(everything, *source, 0));
    source = std::make_unique<SelectedSource>(std::move(source), std::move(unseen.validation), std::move(unseen.test));
  }
  Exported exported;
  exported.train = write_split(*source, Split::train, aside.path() / "train.jsonl");
  exported.validation = write_split(*source, Split::validation, aside.path() / "validation.jsonl");
  exported.test = write_split(*source, Split::test, aside.path() / "test.jsonl");
  aside.commit();
  return exported;
}

}  // namespace lengthwise
