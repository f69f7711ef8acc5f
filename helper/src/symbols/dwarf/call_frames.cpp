// The rules of a frame are DWARF expressions. Call frame information uses few operations: those
// that other expressions need end the unwinding.
#include "symbols/dwarf/call_frames.hpp"

#include <dwarf.h>

#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace ptlens::symbols {
namespace {

constexpr std::size_t registers_count = std::tuple_size_v<decltype(FrameRegisters::value)>;

// A value, or the place of one.
struct Computed {
  std::uint64_t number = 0;
  bool is_address = true; // the value is in memory there
};

class Evaluation {
public:
  Evaluation(const FrameRegisters& registers, const StackCopy& stack,
             std::optional<std::uint64_t> cfa)
      : registers_(registers), stack_(stack), cfa_(cfa) {}

  std::optional<Computed> run(const Dwarf_Op* operations, std::size_t count) {
    Computed result;
    for (std::size_t at = 0; at < count; ++at) {
      const Dwarf_Op& operation = operations[at];
      if (operation.atom == DW_OP_stack_value) {
        result.is_address = false;
      } else if (operation.atom >= DW_OP_reg0 && operation.atom <= DW_OP_reg31) {
        push_register(operation.atom - DW_OP_reg0, 0);
        result.is_address = false;
      } else {
        apply(operation);
      }
      if (failed_) {
        return std::nullopt;
      }
    }
    if (values_.empty()) {
      return std::nullopt;
    }
    result.number = values_.back();
    return result;
  }

private:
  void push(std::optional<std::uint64_t> value) {
    failed_ = failed_ || !value;
    values_.push_back(value.value_or(0));
  }
  void push_register(std::size_t number, std::uint64_t offset) {
    const auto value = number < registers_count ? registers_.value[number] : std::nullopt;
    push(value ? std::optional(*value + offset) : std::nullopt);
  }
  std::uint64_t pop() {
    if (values_.empty()) {
      failed_ = true;
      return 0;
    }
    const std::uint64_t value = values_.back();
    values_.pop_back();
    return value;
  }

  void apply(const Dwarf_Op& operation) {
    const unsigned atom = operation.atom;
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
      return push_register(atom - DW_OP_breg0, operation.number);
    }
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
      return push(atom - DW_OP_lit0);
    }
    switch (atom) {
    case DW_OP_bregx:
      return push_register(operation.number, operation.number2);
    case DW_OP_call_frame_cfa:
      return push(cfa_);
    case DW_OP_plus_uconst:
      return push(pop() + operation.number);
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_constu:
    case DW_OP_consts:
      return push(operation.number);
    case DW_OP_deref:
      return push(stack_.word(pop()));
    default:
      return apply_binary(atom);
    }
  }

  void apply_binary(unsigned atom) {
    const std::uint64_t second = pop();
    const std::uint64_t first = pop();
    constexpr std::uint64_t bits = 64;
    switch (atom) {
    case DW_OP_plus:
      return push(first + second);
    case DW_OP_minus:
      return push(first - second);
    case DW_OP_and:
      return push(first & second);
    case DW_OP_or:
      return push(first | second);
    case DW_OP_shl:
      return push(second < bits ? first << second : 0);
    case DW_OP_shr:
      return push(second < bits ? first >> second : 0);
    case DW_OP_ge:
      return push(static_cast<std::int64_t>(first) >= static_cast<std::int64_t>(second) ? 1 : 0);
    default:
      failed_ = true;
    }
  }

  const FrameRegisters& registers_;
  const StackCopy& stack_;
  std::optional<std::uint64_t> cfa_;
  std::vector<std::uint64_t> values_;
  bool failed_ = false;
};

// Returns the value that the register has in the caller.
std::optional<std::uint64_t> in_caller(Dwarf_Frame* frame, std::size_t number,
                                       const FrameRegisters& registers, const StackCopy& stack,
                                       std::uint64_t cfa) {
  std::array<Dwarf_Op, 3> memory{};
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_register(frame, static_cast<int>(number), memory.data(), &operations, &count) !=
      0) {
    return std::nullopt;
  }
  if (count == 0) { // null: the same value; else undefined
    return operations == nullptr ? registers.value[number] : std::nullopt;
  }
  const auto computed = Evaluation(registers, stack, cfa).run(operations, count);
  if (!computed) {
    return std::nullopt;
  }
  return computed->is_address ? stack.word(computed->number) : std::optional(computed->number);
}

} // namespace

std::optional<std::uint64_t> StackCopy::word(std::uint64_t at) const {
  std::uint64_t value = 0;
  if (at < address || bytes.size() < sizeof value || at - address > bytes.size() - sizeof value) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data() + (at - address), sizeof value);
  return value;
}

Result<CallFrames> CallFrames::open(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file) {
    return std::unexpected(file.error());
  }
  Dwarf_CFI* const information = dwarf_getcfi_elf(file->elf());
  if (information == nullptr) {
    return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                 .message = "the file has no call frame information",
                                 .file = path,
                                 .remedy = "compile it with -fasynchronous-unwind-tables"});
  }
  return CallFrames(std::move(*file), information);
}

CallFrames::Step CallFrames::step(std::uint64_t address, const StackCopy& stack,
                                  FrameRegisters& registers) {
  const auto [entry, added] = frames_.try_emplace(address);
  if (added) {
    Dwarf_Frame* found = nullptr;
    if (dwarf_cfi_addrframe(information_, address, &found) == 0) {
      entry->second.reset(found);
    }
  }
  Dwarf_Frame* const frame = entry->second.get();
  if (frame == nullptr) {
    return Step::no_information;
  }
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame, &operations, &count) != 0) {
    return Step::no_information;
  }
  const auto cfa = Evaluation(registers, stack, std::nullopt).run(operations, count);
  if (!cfa) {
    return Step::ended;
  }
  FrameRegisters caller;
  for (std::size_t number = 0; number < registers_count; ++number) {
    caller.value[number] = in_caller(frame, number, registers, stack, cfa->number);
  }
  caller.value[FrameRegisters::rsp] = cfa->number;
  if (caller.value[FrameRegisters::ip].value_or(0) == 0) {
    return Step::ended;
  }
  registers = caller;
  return Step::done;
}

} // namespace ptlens::symbols
