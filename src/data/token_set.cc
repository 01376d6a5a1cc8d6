#include "data/token_set.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "core/error.h"
#include "core/threads.h"

namespace lengthwise {
namespace {

/// Examples that one thread encodes in one go.
constexpr int64_t kChunk = 1024;

/// Places of names in a list, by first appearance.
class NameIndex {
 public:
  explicit NameIndex(std::vector<std::string>& names) : names_(names) {}

  int32_t place_of(const std::string& name) {
    if (last_ >= 0 && names_[static_cast<size_t>(last_)] == name) return last_;
    const auto found = places_.find(name);
    if (found != places_.end()) return last_ = found->second;
    last_ = static_cast<int32_t>(names_.size());
    names_.push_back(name);
    places_.emplace(name, last_);
    return last_;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, int32_t> places_;
  int32_t last_ = -1;  ///< examples of one category often follow one another
};

/// Encodes examples one after the other without allocating for each.
class Encoder {
 public:
  Encoder(const ExampleSource& source, Split split, const Vocabulary& vocabulary, Frame frame)
      : source_(source), split_(split), vocabulary_(vocabulary), frame_(frame) {}

  void append(int64_t index, TokenSet& out, NameIndex& categories) {
    source_.get(split_, index, example_);
    const size_t begin = out.tokens.size();
    if (frame_.bos) out.tokens.push_back(Vocabulary::kBos);
    vocabulary_.encode(example_.prompt, out.tokens);
    if (frame_.sep) out.tokens.push_back(Vocabulary::kSep);
    out.prompt_tokens.push_back(static_cast<int32_t>(out.tokens.size() - begin));
    vocabulary_.encode(example_.target, out.tokens);
    out.tokens.push_back(Vocabulary::kEos);
    out.offsets.push_back(static_cast<int64_t>(out.tokens.size()));
    out.length.push_back(static_cast<int32_t>(example_.length));
    out.category.push_back(categories.place_of(example_.category));
  }

 private:
  const ExampleSource& source_;
  Split split_;
  const Vocabulary& vocabulary_;
  Frame frame_;
  Example example_;
};

void clear(TokenSet& set) {
  set.tokens.clear();
  set.offsets.resize(1);
  set.prompt_tokens.clear();
  set.length.clear();
  set.category.clear();
  set.category_names.clear();
}

/// Collects chunks from several threads in the order of their numbers.
class Collector {
 public:
  Collector(TokenSet& out, int64_t chunks) : out_(out), categories_(out.category_names), chunks_(chunks) {}

  /// The next chunk to encode, or -1.
  int64_t take() {
    const int64_t chunk = next_.fetch_add(1);
    return chunk < chunks_ && !stopped_ ? chunk : -1;
  }

  /// Waits until every chunk before this one is in, then appends it.
  void put(int64_t chunk, const TokenSet& part) {
    std::unique_lock lock(mutex_);
    turn_changed_.wait(lock, [&] { return turn_ == chunk || stopped_; });
    if (stopped_) return;
    try {
      append(part);
    } catch (...) {
      stop(std::current_exception());
    }
    ++turn_;
    turn_changed_.notify_all();
  }

  /// As `put` for a chunk that could not be encoded: nothing after it counts.
  void put_failure(int64_t chunk, const std::exception_ptr& failure) {
    std::unique_lock lock(mutex_);
    turn_changed_.wait(lock, [&] { return turn_ == chunk || stopped_; });
    if (!stopped_) stop(failure);
    turn_changed_.notify_all();
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void stop(const std::exception_ptr& failure) {
    failure_ = failure;
    stopped_ = true;
  }

  void append(const TokenSet& part) {
    const int64_t base = out_.offsets.back();
    const auto extend = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    // Not left to the vector, which would double.
    if (const size_t needed = out_.tokens.size() + part.tokens.size(); needed > out_.tokens.capacity()) {
      out_.tokens.reserve(needed + needed / 8);
    }
    extend(out_.tokens, part.tokens);
    extend(out_.prompt_tokens, part.prompt_tokens);
    extend(out_.length, part.length);
    for (size_t i = 1; i < part.offsets.size(); ++i) out_.offsets.push_back(base + part.offsets[i]);
    std::vector<int32_t> places;
    for (const std::string& name : part.category_names) places.push_back(categories_.place_of(name));
    for (const int32_t place : part.category) out_.category.push_back(places[static_cast<size_t>(place)]);
  }

  TokenSet& out_;
  NameIndex categories_;
  const int64_t chunks_;
  std::atomic<int64_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable turn_changed_;
  int64_t turn_ = 0;
  std::exception_ptr failure_;
};

/// Makes room for the whole set. How many tokens there will be is estimated from examples spread over the split.
void reserve(TokenSet& set, Encoder& encoder, int64_t count) {
  const auto size = static_cast<size_t>(count);
  set.offsets.reserve(size + 1);
  set.prompt_tokens.reserve(size);
  set.length.reserve(size);
  set.category.reserve(size);
  const int64_t samples = std::min<int64_t>(2048, count / 16);
  if (samples == 0) return;
  TokenSet sample;
  NameIndex categories(sample.category_names);
  for (int64_t i = 0; i < samples; ++i) encoder.append(i * count / samples, sample, categories);
  const double mean = static_cast<double>(sample.tokens.size()) / static_cast<double>(samples);
  set.tokens.reserve(static_cast<size_t>(1.05 * mean * static_cast<double>(count)));
}

}  // namespace

TokenSet build_token_set(const ExampleSource& source, Split split, const Vocabulary& vocabulary, Frame frame,
                         int threads) {
  const int64_t count = source.count(split);
  const int64_t chunks = (count + kChunk - 1) / kChunk;
  TokenSet set;
  try {
    Encoder encoder(source, split, vocabulary, frame);
    reserve(set, encoder, count);
  } catch (const UserError&) {
    // Met again below, where the first bad example in order is the one that is reported.
  }
  Collector collector(set, chunks);
  const auto work = [&] {
    Encoder encoder(source, split, vocabulary, frame);
    TokenSet part;
    for (int64_t chunk = collector.take(); chunk >= 0; chunk = collector.take()) {
      try {
        clear(part);
        NameIndex categories(part.category_names);
        for (int64_t i = chunk * kChunk; i < std::min(count, (chunk + 1) * kChunk); ++i) {
          encoder.append(i, part, categories);
        }
        collector.put(chunk, part);
      } catch (...) {
        collector.put_failure(chunk, std::current_exception());
      }
    }
  };
  threads = static_cast<int>(threads_or_cores(threads));
  {
    std::vector<std::jthread> helpers;
    try {
      for (int64_t i = 1; i < std::min<int64_t>(threads, chunks); ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads to be had: those there are do the work.
    }
    work();
  }
  collector.rethrow();
  return set;
}

void TokenSet::keep_only(std::span<const int64_t> kept) {
  size_t end = 0;  // of the tokens that stay
  for (size_t to = 0; to < kept.size(); ++to) {
    const auto from = static_cast<size_t>(kept[to]);
    const auto begin = static_cast<size_t>(offsets[from]);
    const auto size = static_cast<size_t>(offsets[from + 1]) - begin;
    std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(begin), size,
                tokens.begin() + static_cast<std::ptrdiff_t>(end));
    end += size;
    // offsets[from + 1] is read before offsets[to + 1] is written, and to <= from.
    offsets[to + 1] = static_cast<int64_t>(end);
    prompt_tokens[to] = prompt_tokens[from];
    length[to] = length[from];
    category[to] = category[from];
  }
  tokens.resize(end);
  offsets.resize(kept.size() + 1);
  prompt_tokens.resize(kept.size());
  length.resize(kept.size());
  category.resize(kept.size());
}

}  // namespace lengthwise
