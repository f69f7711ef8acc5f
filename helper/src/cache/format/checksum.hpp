// The checksum of every section of a cache: XXH3 with 64 bits (Collet, https://xxhash.com), several
// GB per second. It detects damage, but does not protect against an attacker.
#pragma once

#include "cache/format/format.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ptlens::cache {

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

// Returns the low half of the checksum of an edge, without the checksum in it, and of the entries
// of its blocks.
[[nodiscard]] std::uint32_t checksum_of(const EdgeEntry& edge, std::span<const BlockEntry> blocks);

// Computes the checksum of bytes that are added in several calls.
class RunningChecksum {
public:
  RunningChecksum();
  RunningChecksum(RunningChecksum&&) noexcept;
  RunningChecksum& operator=(RunningChecksum&&) noexcept;
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;
  ~RunningChecksum();

  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace ptlens::cache
