// A reader of consecutive little-endian fields. Every read checks the bounds. A read beyond them
// returns zero or nothing, consumes nothing, and sets failed() permanently, so a caller can read
// all fields of a record and check once.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace ptlens::perfdata {

static_assert(std::endian::native == std::endian::little, "PT Lens runs on x86-64");

class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <std::integral T>
  [[nodiscard]] T read() {
    T value = 0;
    if (const auto field = take(sizeof(T)); !field.empty()) {
      std::memcpy(&value, field.data(), sizeof(T));
    }
    return value;
  }

  // Returns the next `count` bytes; none where fewer remain.
  std::span<const std::byte> take(std::uint64_t count) {
    if (failed_ || count > remaining()) {
      failed_ = true;
      return {};
    }
    const auto taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

  void skip(std::uint64_t count) { take(count); }

  // Returns the bytes that were consumed since that position; none after a failure.
  [[nodiscard]] std::span<const std::byte> since(std::uint64_t position) const {
    return failed_ || position > position_ ? std::span<const std::byte>{}
                                           : bytes_.subspan(position, position_ - position);
  }

  // Skips `count` elements of `size` > 0 bytes.
  void skip_array(std::uint64_t count, std::uint64_t size) {
    if (count > remaining() / size) {
      failed_ = true;
      return;
    }
    skip(count * size);
  }

  // Returns the text in a field of `count` bytes, up to its first NUL.
  [[nodiscard]] std::string_view text(std::uint64_t count) {
    const auto field = take(count);
    if (field.empty()) {
      return {};
    }
    const auto* characters = reinterpret_cast<const char*>(field.data());
    return {characters, ::strnlen(characters, field.size())};
  }

  [[nodiscard]] std::string_view rest_as_text() { return text(remaining()); }

  [[nodiscard]] std::uint64_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] bool failed() const { return failed_; }

private:
  std::span<const std::byte> bytes_;
  std::uint64_t position_ = 0;
  bool failed_ = false;
};

} // namespace ptlens::perfdata
