// The instructions that the kernel's probes refuse, and the conditions under which jumps are taken.
// Sources: arch/x86/kernel/uprobes.c; Intel SDM vol. 2, Jcc.
#include "record/probes/plan/probe_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ptlens::record {
namespace {

constexpr std::array<std::uint8_t, 5> refused_prefixes = {0x26, 0x2e, 0x36, 0x3e, 0xf0};
constexpr std::array<std::uint8_t, 4> other_prefixes = {0x64, 0x65, 0xf2, 0xf3};

bool contains(std::span<const std::uint8_t> bytes, std::byte value) {
  return std::ranges::find(bytes, std::to_integer<std::uint8_t>(value)) != bytes.end();
}

std::size_t prefix_length(std::span<const std::byte> code) {
  constexpr std::size_t longest = 14;
  std::size_t length = 0;
  while (length < std::min(code.size(), longest) &&
         (contains(refused_prefixes, code[length]) || contains(other_prefixes, code[length]) ||
          code[length] == std::byte{0x66} || code[length] == std::byte{0x67})) {
    ++length;
  }
  return length;
}

// RFLAGS bits.
constexpr unsigned carry = 0x1;
constexpr unsigned parity = 0x4;
constexpr unsigned zero = 0x40;
constexpr unsigned sign = 0x80;
constexpr unsigned overflow = 0x800;

std::string any_of(unsigned mask) {
  return fmt::format("flags & {:#x}", mask);
}

// Returns the condition that two bits are both clear or both set.
std::string equal(unsigned one, unsigned other) {
  return fmt::format("((flags & {0:#x} && flags & {1:#x}) || !(flags & {2:#x}))", one, other,
                     one | other);
}

// Returns the condition of an even condition code. The odd code after it is its negation.
std::string condition_of(unsigned even_code) {
  switch (even_code) {
  case 0x0:
    return any_of(overflow);
  case 0x2:
    return any_of(carry);
  case 0x4:
    return any_of(zero);
  case 0x6:
    return any_of(carry | zero);
  case 0x8:
    return any_of(sign);
  case 0xa:
    return any_of(parity);
  case 0xc:
    return fmt::format("!{}", equal(sign, overflow));
  default:
    return fmt::format("{} || !{}", any_of(zero), equal(sign, overflow));
  }
}

} // namespace

bool is_refused(std::span<const std::byte> code) {
  const std::span<const std::byte> prefixes = code.first(prefix_length(code));
  return std::ranges::any_of(prefixes,
                             [](std::byte value) { return contains(refused_prefixes, value); });
}

std::optional<std::string> taken_condition(std::span<const std::byte> code) {
  code = code.subspan(prefix_length(code));
  std::optional<unsigned> nibble;
  if (!code.empty() && (code[0] & std::byte{0xf0}) == std::byte{0x70}) {
    nibble = std::to_integer<unsigned>(code[0] & std::byte{0x0f});
  } else if (code.size() > 1 && code[0] == std::byte{0x0f} &&
             (code[1] & std::byte{0xf0}) == std::byte{0x80}) {
    nibble = std::to_integer<unsigned>(code[1] & std::byte{0x0f});
  }
  if (!nibble) {
    return std::nullopt;
  }
  const std::string condition = condition_of(*nibble & ~1U);
  return (*nibble & 1) == 0 ? condition : fmt::format("!({})", condition);
}

} // namespace ptlens::record
