// XXH3 with 64 bits (Collet, https://xxhash.com), several GB per second. It detects damage and
// change, but does not protect against an attacker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace ptlens {

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);
[[nodiscard]] std::uint64_t checksum(std::string_view text);

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

} // namespace ptlens
