// Thunks are recognised by their bytes: compilers emit them as fixed assembly, not through the code
// generator (GCC gcc/config/i386/i386.cc, output_indirect_thunk; LLVM X86IndirectThunks.cpp).
#include "symbols/machine_code/thunk.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace ptlens::symbols {

namespace {

template <std::size_t Size>
bool begins_with(std::span<const std::byte> code, const std::array<std::uint8_t, Size>& bytes) {
  return code.size() >= Size && std::memcmp(code.data(), bytes.data(), Size) == 0;
}

} // namespace

bool names_thunk(std::string_view linkage_name) {
  static constexpr std::string_view beginnings[] = {
      "__x86_indirect_thunk", "__x86_return_thunk",        "__llvm_retpoline_",
      "__llvm_lvi_thunk_",    "__x86_indirect_jump_thunk", "__x86_indirect_call_thunk"};
  return std::ranges::any_of(beginnings, [linkage_name](std::string_view beginning) {
    return linkage_name.starts_with(beginning);
  });
}

bool is_thunk_code(std::span<const std::byte> code) {
  constexpr std::size_t call_size = 5;
  constexpr std::size_t farthest = 64;
  constexpr std::array<std::uint8_t, 2> pause = {0xf3, 0x90};
  constexpr std::array<std::uint8_t, 3> lfence = {0x0f, 0xae, 0xe8};
  constexpr std::array<std::uint8_t, 1> call = {0xe8};
  if (!begins_with(code, call) || code.size() < call_size) {
    return false;
  }
  std::int32_t distance = 0;
  std::memcpy(&distance, code.data() + 1, sizeof distance);
  const std::span<const std::byte> loop = code.subspan(call_size);
  if (distance <= 0 || static_cast<std::size_t>(distance) > std::min(farthest, loop.size()) ||
      (!begins_with(loop, pause) && !begins_with(loop, lfence))) {
    return false;
  }
  const std::span<const std::byte> after = loop.subspan(static_cast<std::size_t>(distance));
  constexpr std::array<std::uint8_t, 6> drop = {0x48, 0x8d, 0x64, 0x24, 0x08, 0xc3}; // lea 8(%rsp)
  constexpr std::size_t store_size = 5; // mov %REG,(%rsp); ret
  if (begins_with(after, drop)) {
    return true;
  }
  const auto byte = [after](std::size_t at) { return std::to_integer<unsigned>(after[at]); };
  constexpr unsigned register_field = 0x38;
  return after.size() >= store_size && (byte(0) == 0x48 || byte(0) == 0x4c) && byte(1) == 0x89 &&
         (byte(2) & ~register_field) == 0x04 && byte(3) == 0x24 && byte(4) == 0xc3;
}

} // namespace ptlens::symbols
