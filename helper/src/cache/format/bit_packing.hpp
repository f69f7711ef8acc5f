// Integers of any number of bits, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ptlens::cache {

// Writes integers of that many bits (1 to 64). May touch 8 bytes more.
class BitPacker {
public:
  BitPacker(unsigned width, std::byte* out) : out_(out), width_(width) {}

  void add(std::uint64_t value) {
    word_ |= value << filled_;
    filled_ += width_;
    if (filled_ >= word_bits) {
      std::memcpy(out_, &word_, sizeof word_);
      out_ += sizeof word_;
      filled_ -= word_bits;
      word_ = filled_ == 0 ? 0 : value >> (width_ - filled_);
    }
  }
  // Returns the end.
  [[nodiscard]] std::byte* finish() {
    constexpr unsigned bits_per_byte = 8;
    std::memcpy(out_, &word_, sizeof word_);
    return out_ + (filled_ + bits_per_byte - 1) / bits_per_byte;
  }

private:
  static constexpr unsigned word_bits = 64;

  std::byte* out_;
  unsigned width_;
  unsigned filled_ = 0; // bits of the word
  std::uint64_t word_ = 0;
};

// Writes the low `width` bits (0 to 64) of each value, less the base. May touch 8 bytes more.
// Returns the end.
[[nodiscard]] std::byte* pack_bits(std::span<const std::uint64_t> values, std::uint64_t base,
                                   unsigned width, std::byte* out);

// Reads values of that many bits (0 to 64) from index `first` on, and adds the base. May read 8
// bytes past the last.
void unpack_bits(const std::byte* in, unsigned width, std::size_t first, std::uint64_t base,
                 std::span<std::uint64_t> out);
void unpack_bits(const std::byte* in, unsigned width, std::size_t first, std::uint64_t base,
                 std::span<std::uint32_t> out);
void unpack_bits(const std::byte* in, unsigned width, std::size_t first, std::uint64_t base,
                 std::span<std::uint8_t> out);

} // namespace ptlens::cache
