#include "record/targets/unwinding.hpp"

#include "record/processes/fields.hpp"
#include "record/processes/files.hpp"
#include "symbols/machine_code/disassembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace ptlens::record {
namespace {

struct Danger {
  std::string_view symbol;
  std::string_view why;
};

constexpr std::string_view exceptions = "throws or passes on exceptions";
constexpr std::string_view jumps = "jumps out of functions";
constexpr std::string_view threads = "ends or cancels threads inside functions";
constexpr std::string_view stacks = "switches stacks";

constexpr std::array dangers = {Danger{"_Unwind_RaiseException", exceptions},
                                Danger{"_Unwind_Resume", exceptions},
                                Danger{"_Unwind_ForcedUnwind", exceptions},
                                Danger{"_Unwind_Backtrace", "reads the stack"},
                                Danger{"__cxa_throw", exceptions},
                                Danger{"rust_eh_personality", exceptions},
                                Danger{"longjmp", jumps},
                                Danger{"_longjmp", jumps},
                                Danger{"siglongjmp", jumps},
                                Danger{"__longjmp_chk", jumps},
                                Danger{"pthread_exit", threads},
                                Danger{"pthread_cancel", threads},
                                Danger{"thrd_exit", threads},
                                Danger{"setcontext", stacks},
                                Danger{"swapcontext", stacks},
                                Danger{"makecontext", stacks},
                                Danger{"jump_fcontext", stacks},
                                Danger{"make_fcontext", stacks},
                                Danger{"__morestack", stacks},
                                Danger{"sigaltstack", "handles signals on another stack"}};

// Libraries that consist of unwinders. Programs that only need others of the C library's parts do
// not load them.
constexpr std::array<std::string_view, 3> unwinders = {"libgcc_s.so", "libunwind.so",
                                                       "libstdc++.so"};

std::string danger_in(const ElfSymbols& symbols) {
  for (const Danger& danger : dangers) {
    const std::string name(danger.symbol);
    if (symbols.imported.contains(name) || symbols.linked.contains(name)) {
      return fmt::format("{} ({})", danger.why, danger.symbol);
    }
  }
  if (symbols.go) {
    return "moves stacks (Go)";
  }
  return symbols.dynamic || !symbols.linked.empty() ? "" : "has no symbols that show what it does";
}

// Memory that is executable and not of a file contains code that the program generated.
bool generates_code(std::int32_t pid) {
  const auto text = read_text(fmt::format("/proc/{}/maps", pid), std::size_t{64} << 20);
  std::string_view maps = text ? std::string_view(*text) : std::string_view();
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    std::string_view line = maps.substr(0, end);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    next_field(line);
    const std::string_view permissions = next_field(line);
    for (int field = 0; field < 3; ++field) {
      next_field(line);
    }
    const std::string_view path = next_field(line);
    if (permissions.size() > 2 && permissions[2] == 'x' && !path.starts_with('/') &&
        !path.starts_with('[')) {
      return true;
    }
  }
  return false;
}

} // namespace

std::string why_unwound(TargetFiles& files, const Request& request) {
  if (files.files().empty()) {
    return "it is not known what the measured programs do";
  }
  for (const TargetFile& file : files.files()) {
    const std::string name = std::filesystem::path(file.path).filename().string();
    if (std::ranges::any_of(unwinders,
                            [&name](std::string_view each) { return name.starts_with(each); })) {
      return fmt::format("{} throws or passes on exceptions", name);
    }
    const bool c_library = name.starts_with("libc.so") || name.starts_with("ld-linux");
    if (const std::string danger = danger_in(files.symbols_of(file));
        !danger.empty() && !c_library) {
      return fmt::format("{} {}", name, danger);
    }
  }
  if (request.attached() && generates_code(*request.attached())) {
    return "the process generates code while it runs";
  }
  return {};
}

bool contains_go(TargetFiles& files) {
  return std::ranges::any_of(
      files.files(), [&files](const TargetFile& file) { return files.symbols_of(file).go; });
}

bool is_leaf(const Place& place) {
  constexpr auto syscall_code = std::to_array({std::byte{0x0f}, std::byte{0x05}});
  const symbols::Disassembler disassembler(place.binary->is_64_bit());
  for (const symbols::AddressRange& range : place->ranges) {
    std::span<const std::byte> code = place.binary->code_at(range.low);
    code = code.first(std::min<std::uint64_t>(range.high - range.low, code.size()));
    for (std::uint64_t at = range.low; !code.empty();) {
      const auto instruction = disassembler.decode(code, at);
      if (!instruction || instruction->kind == symbols::Instruction::Kind::call ||
          (instruction->length == syscall_code.size() &&
           std::ranges::equal(code.first(syscall_code.size()), syscall_code))) {
        return false;
      }
      at = instruction->end();
      code = code.subspan(instruction->length);
    }
  }
  return std::ranges::all_of(
      place.binary->exit_points(place.function), [&place](const symbols::Exit& exit) {
        return exit.kind == symbols::Exit::Kind::ret && !place.binary->replaces_stack(exit.address);
      });
}

} // namespace ptlens::record
