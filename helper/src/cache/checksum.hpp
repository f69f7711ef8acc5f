// The checksum of every part of a store: XXH3, 64 bits (Collet, https://xxhash.com), several GB a
// second. It finds damage, it is no seal against an attacker.
#pragma once

#include "cache/format.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ptlens::cache {

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

// Of the edge and the entries of its blocks, low half: all of it but the checksum itself.
[[nodiscard]] std::uint32_t checksum_of(const EdgeEntry& edge, std::span<const BlockEntry> blocks);

// The same of bytes that come in pieces.
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
