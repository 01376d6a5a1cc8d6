#pragma once
/// The token ids of a sequence, wherever they lie: as int32 in a token set, or as uint16 in a mapped text.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "core/error.h"

namespace lengthwise {

class TokenView {
 public:
  TokenView(const int32_t* tokens, size_t size) : wide_(tokens), size_(size) {}
  TokenView(const uint16_t* tokens, size_t size) : narrow_(tokens), size_(size) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int32_t operator[](size_t i) const { return wide_ != nullptr ? wide_[i] : narrow_[i]; }

  TokenView first(size_t count) const { return wide_ != nullptr ? TokenView(wide_, count) : TokenView(narrow_, count); }
  TokenView subspan(size_t from) const {
    return wide_ != nullptr ? TokenView(wide_ + from, size_ - from) : TokenView(narrow_ + from, size_ - from);
  }

  /// Where they are int32; for examples of tasks, which always are.
  operator std::span<const int32_t>() const {
    LENGTHWISE_CHECK(wide_ != nullptr || size_ == 0, "{} tokens of a text are no int32", size_);
    return {wide_, size_};
  }

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = int32_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const int32_t*;
    using reference = int32_t;

    Iterator() = default;
    Iterator(const TokenView* view, size_t at) : view_(view), at_(at) {}
    int32_t operator*() const { return (*view_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {view_, at_++}; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const TokenView* view_ = nullptr;
    size_t at_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

 private:
  const int32_t* wide_ = nullptr;
  const uint16_t* narrow_ = nullptr;
  size_t size_;
};

}  // namespace lengthwise
