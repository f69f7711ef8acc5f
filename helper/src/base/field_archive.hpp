// Fields of objects as bytes and back: numbers of a fixed size, little-endian; a string is its
// index in a table that comes first. The reader checks every length before it uses it.
#pragma once

#include "base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptlens {

class FieldWriter {
public:
  template <class T>
    requires std::is_integral_v<T>
  void put(T value) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + sizeof value);
    std::memcpy(&bytes_[begin], &value, sizeof value);
  }

  template <Id I>
  void put(I id) {
    put(index_of(id));
  }

  void put(const std::string& text) {
    const auto [at, added] =
        numbers_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
    if (added) {
      strings_.push_back(&at->first);
    }
    put(at->second);
  }

  void put(const std::vector<std::string>& texts) {
    put(std::uint64_t{texts.size()});
    for (const std::string& text : texts) {
      put(text);
    }
  }

  void put(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& pairs) {
    put(std::uint64_t{pairs.size()});
    for (const auto& [first, second] : pairs) {
      put(first);
      put(second);
    }
  }

  std::vector<std::byte> finish() {
    FieldWriter table;
    table.put(std::uint64_t{strings_.size()});
    for (const std::string* const text : strings_) {
      table.put(std::uint64_t{text->size()});
      const auto bytes = std::as_bytes(std::span(*text));
      table.bytes_.insert(table.bytes_.end(), bytes.begin(), bytes.end());
    }
    table.bytes_.insert(table.bytes_.end(), bytes_.begin(), bytes_.end());
    return std::move(table.bytes_);
  }

private:
  std::vector<std::byte> bytes_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> strings_;
};

class FieldReader {
public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool read_strings() {
    const std::size_t count = length(sizeof(std::uint64_t));
    for (std::size_t i = 0; i < count && good_; ++i) {
      const std::size_t size = length(1);
      strings_.emplace_back(reinterpret_cast<const char*>(bytes_.data()), size);
      bytes_ = bytes_.subspan(size);
    }
    return good_;
  }

  // Reads the number of objects that follow, each of at least that many bytes.
  std::size_t length(std::size_t bytes_each) {
    std::uint64_t count = 0;
    get(count);
    if (count > bytes_.size() / bytes_each) {
      good_ = false;
      return 0;
    }
    return count;
  }

  template <class T>
    requires std::is_integral_v<T>
  void get(T& value) {
    value = 0;
    if (bytes_.size() < sizeof value) {
      good_ = false;
      return;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
  }

  template <Id I>
  void get(I& id) {
    std::uint32_t number = 0;
    get(number);
    id = I{number};
  }

  void get(std::string& text) {
    std::uint32_t number = 0;
    get(number);
    if (number < strings_.size()) {
      text = strings_[number];
    } else {
      good_ = false;
    }
  }

  void get(std::vector<std::pair<std::uint64_t, std::uint64_t>>& pairs) {
    pairs.resize(length(2 * sizeof(std::uint64_t)));
    for (auto& [first, second] : pairs) {
      get(first);
      get(second);
    }
  }

  void get(std::vector<std::string>& texts) {
    texts.resize(length(sizeof(std::uint32_t)));
    for (std::string& text : texts) {
      get(text);
    }
  }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return good_ && bytes_.empty(); }

private:
  std::span<const std::byte> bytes_;
  std::vector<std::string_view> strings_;
  bool good_ = true;
};

} // namespace ptlens
