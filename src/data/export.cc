#include "data/export.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <charconv>

#include "core/error.h"
#include "core/files.h"
#include "data/data_set.h"
#include "data/jsonl.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// A lock on a folder, held until this ends or its process does.
class HeldFolder {
 public:
  explicit HeldFolder(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    held_ = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  }
  ~HeldFolder() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  HeldFolder(const HeldFolder&) = delete;
  HeldFolder& operator=(const HeldFolder&) = delete;

  bool held() const { return held_; }

 private:
  int descriptor_;
  bool held_ = false;
};

/// The process that writes into a folder of that name aside of `path`, or nothing for any other name.
std::optional<pid_t> writer_of(const std::string& name, const fs::path& path) {
  const std::string begin = path.filename().string() + ".";
  const std::string_view end = ".part";
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + end.size()) return std::nullopt;
  pid_t process = 0;
  const char* const last = name.data() + name.size() - end.size();
  const auto [at, error] = std::from_chars(name.data() + begin.size(), last, process);
  if (error != std::errc() || at != last || process <= 0) return std::nullopt;
  return process;
}

void remove_quietly(const fs::path& folder) {
  try {
    remove_folder(folder);
  } catch (const UserError&) {
    // It is in nobody's way.
  }
}

/// Removes what processes that were killed left aside of `path`. One that still writes holds its folder, or, in the
/// moment before it does, exists; ours has none yet.
void remove_leftovers(const fs::path& path) {
  if (!is_folder(path.parent_path())) return;
  for (const fs::path& entry : list_folder(path.parent_path())) {
    const std::optional<pid_t> writer = writer_of(entry.filename().string(), path);
    if (!writer || (*writer != ::getpid() && ::kill(*writer, 0) == 0)) continue;
    const HeldFolder lock(entry);
    if (lock.held()) remove_quietly(entry);
  }
}

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
    remove_leftovers(path_);
    make_folder(aside_);
    lock_.emplace(aside_);
  }
  ~FolderAside() {
    lock_.reset();  // where few files may be open, this was the last one, and removing needs one
    remove_quietly(aside_);
  }
  FolderAside(const FolderAside&) = delete;
  FolderAside& operator=(const FolderAside&) = delete;

  const fs::path& path() const { return aside_; }

  void commit() {
    move_path(aside_, path_);  // replaces an empty folder, never a full one
  }

 private:
  fs::path path_;
  fs::path aside_;
  std::optional<HeldFolder> lock_;
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
