// Little-endian bytes in the making.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ptlens::ptsim {

class ByteBuffer {
public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  ByteBuffer& add(const T& value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return *this;
  }
  ByteBuffer& u8(std::uint8_t value) { return add(value); }
  ByteBuffer& u16(std::uint16_t value) { return add(value); }
  ByteBuffer& u32(std::uint32_t value) { return add(value); }
  ByteBuffer& u64(std::uint64_t value) { return add(value); }
  ByteBuffer& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  // The text and zeros up to `size` bytes; longer text is cut so that it still ends in a zero.
  ByteBuffer& text(std::string_view text, std::size_t size) {
    const std::size_t length = text.size() < size ? text.size() : size - 1;
    bytes_.insert(bytes_.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
    return zeros(size - length);
  }
  ByteBuffer& append(const ByteBuffer& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }

  [[nodiscard]] const char* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

private:
  std::vector<char> bytes_;
};

// The next multiple of `unit`, a power of two.
[[nodiscard]] constexpr std::size_t rounded_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) & ~(unit - 1);
}

} // namespace ptlens::ptsim
