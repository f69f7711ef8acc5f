// Pointers and numbers in the encodings of exception tables: LEB128, and DW_EH_PE_* formats
// relative to their own address (Linux Standard Base Core, section 10.5, "DWARF Extensions").
#pragma once

#include <dwarf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace ptlens::symbols {

// Reads fields in sequence from `bytes`, whose first byte is at `address`. Returns nothing for
// unknown formats and past the end.
class EncodedReader {
public:
  EncodedReader(std::span<const std::uint8_t> bytes, std::uint64_t address, bool is_64_bit)
      : bytes_(bytes), address_(address), is_64_bit_(is_64_bit) {}

  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  // Returns a reader for the next `size` bytes only.
  [[nodiscard]] std::optional<EncodedReader> first(std::uint64_t size) const {
    return size <= bytes_.size()
               ? std::optional(EncodedReader(bytes_.first(size), address_, is_64_bit_))
               : std::nullopt;
  }

  std::optional<std::uint8_t> byte() {
    const auto value = take<std::uint8_t>();
    return value ? std::optional(static_cast<std::uint8_t>(*value)) : std::nullopt;
  }

  std::optional<std::uint64_t> uleb128() {
    constexpr unsigned bits = 7;
    constexpr std::uint8_t more = 0x80;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += bits) {
      const auto next = byte();
      if (!next) {
        return std::nullopt;
      }
      value |= static_cast<std::uint64_t>(*next & ~more) << shift;
      if ((*next & more) == 0) {
        return value;
      }
    }
    return std::nullopt;
  }

  // Returns the value of a field, sign-extended where its format requires it.
  std::optional<std::uint64_t> number(std::uint8_t format) {
    switch (format) {
    case DW_EH_PE_absptr:
      return is_64_bit_ ? take<std::uint64_t>() : take<std::uint32_t>();
    case DW_EH_PE_uleb128:
      return uleb128();
    case DW_EH_PE_udata2:
      return take<std::uint16_t>();
    case DW_EH_PE_udata4:
      return take<std::uint32_t>();
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return take<std::uint64_t>();
    case DW_EH_PE_sdata2:
      return take<std::int16_t>();
    case DW_EH_PE_sdata4:
      return take<std::int32_t>();
    default:
      return std::nullopt;
    }
  }

  // Returns an address. 0 means "none", whatever the address is relative to.
  std::optional<std::uint64_t> address(std::uint8_t encoding) {
    constexpr std::uint8_t format_mask = 0x0f;
    constexpr std::uint8_t application_mask = 0x70;
    const std::uint64_t here = address_;
    std::optional<std::uint64_t> value = number(encoding & format_mask);
    if (!value || *value == 0) {
      return value;
    }
    if ((encoding & application_mask) == DW_EH_PE_pcrel) {
      *value += here;
    } else if ((encoding & application_mask) != 0) {
      return std::nullopt;
    }
    return is_64_bit_ ? *value : *value & UINT32_MAX;
  }

private:
  template <class T>
  std::optional<std::uint64_t> take() {
    if (bytes_.size() < sizeof(T)) {
      return std::nullopt;
    }
    T value = {};
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    address_ += sizeof(T);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }

  std::span<const std::uint8_t> bytes_;
  std::uint64_t address_;
  bool is_64_bit_;
};

} // namespace ptlens::symbols
