// A vector whose elements never move. Another thread may read the elements that it knows of while
// new ones are added. Each chunk is twice as long as the previous one.
#pragma once

#include "base/large_pages.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

namespace ptlens {

template <class T>
class StableVector {
public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return slot(chunks_, index); }
  [[nodiscard]] T& operator[](std::size_t index) { return slot(chunks_, index); }
  void push_back(const T& value) {
    const std::size_t at = size_ + first_chunk;
    const unsigned chunk = chunk_of(at);
    if (at == first_chunk << chunk) {
      chunks_[chunk].reserve(at); // memory is used once there are elements
    }
    chunks_[chunk].push_back(value);
    ++size_;
  }

private:
  static constexpr std::size_t first_chunk = 256; // elements
  static constexpr unsigned first_width = std::bit_width(first_chunk);
  static constexpr unsigned most_chunks = 32;

  // Returns the chunk of an element. `at` is its index plus first_chunk; its number of binary
  // digits determines the chunk.
  [[nodiscard]] static unsigned chunk_of(std::size_t at) {
    return static_cast<unsigned>(std::bit_width(at)) - first_width;
  }
  // Returns the element; const where `chunks` is.
  template <class Chunks>
  [[nodiscard]] static auto& slot(Chunks& chunks, std::size_t index) {
    const std::size_t at = index + first_chunk;
    const unsigned chunk = chunk_of(at);
    return chunks[chunk][at - (first_chunk << chunk)];
  }

  std::array<std::vector<T, LargePages<T>>, most_chunks> chunks_;
  std::size_t size_ = 0;
};

} // namespace ptlens
