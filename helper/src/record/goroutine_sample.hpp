// What a probe in Go code stores at each hit beside the stack pointer: the goroutine and its stack.
//
// A goroutine moves between threads, and its stack moves when it grows. Its number and the distance
// of the stack pointer from the stack's upper end stay the same (runtime/stack.go, copystack).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace ptlens::record {

struct GoroutineSample {
  // 0: a thread's own goroutine (g0), whose stack does not move.
  std::uint64_t number = 0;
  // The stack pointer minus the upper end of the stack, modulo 2^64: as the stack pointer it is
  // lower in callees. For g0 the stack pointer.
  std::uint64_t place = 0;
};

// Reads the payload of a sample: after the 8 common bytes u64 ip, sp, return address, and the lower
// end and the upper end of the goroutine's stack and its number. Returns nothing where the stack
// pointer is not in that stack: the register did not point to the running goroutine.
inline std::optional<GoroutineSample> goroutine_sample(std::span<const std::byte> raw) {
  constexpr std::size_t common = 8;
  struct {
    std::uint64_t ip, sp, return_address, low, high, number;
  } fields{};
  if (raw.size() < common + sizeof fields) {
    return std::nullopt;
  }
  std::memcpy(&fields, raw.data() + common, sizeof fields);
  if (fields.sp < fields.low || fields.sp >= fields.high) {
    return std::nullopt;
  }
  return GoroutineSample{.number = fields.number,
                         .place = fields.number == 0 ? fields.sp : fields.sp - fields.high};
}

} // namespace ptlens::record
