// The payload of a probe's samples. Manifest documents it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace ptlens::record {

// Returns the address of the probed instruction in the process, or nothing when the payload is too
// short.
inline std::optional<std::uint64_t> instruction_pointer(std::span<const std::byte> raw) {
  constexpr std::size_t offset = 8; // behind trace_entry
  std::uint64_t ip = 0;
  if (raw.size() < offset + sizeof ip) {
    return std::nullopt;
  }
  std::memcpy(&ip, raw.data() + offset, sizeof ip);
  return ip;
}

} // namespace ptlens::record
