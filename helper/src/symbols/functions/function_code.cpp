// Linear disassembly from the start of each range, as in objdump; compilers for x86 put no data
// between the instructions of one function. The code that computes the jump's register
// distinguishes jump tables from indirect tail calls: GCC and LLVM add an entry of 4 bytes to the
// table's address, or (without PIE) load 8 bytes from table[index].
#include "symbols/functions/function_code.hpp"

#include "symbols/machine_code/disassembler.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>

namespace ptlens::symbols {

namespace {

bool in_ranges(const Function& function, std::uint64_t address) {
  return std::ranges::any_of(
      function.ranges, [address](const AddressRange& range) { return range.contains(address); });
}

std::span<const std::byte> code_of(const ElfImage& image, const AddressRange& range) {
  const std::span<const std::byte> code = image.code_at(range.low);
  return code.first(std::min<std::uint64_t>(range.high - range.low, code.size()));
}

// Calls `length_at` with the offset of each instruction in the first `end` bytes of the code, and
// with the bytes from there on. `length_at` returns the length of the instruction, or 0 where the
// bytes are not an instruction; then the walk continues with the next byte.
template <class LengthAt>
void step_through(std::span<const std::byte> code, std::size_t end, const LengthAt& length_at) {
  for (std::size_t at = 0; at < end;) {
    const std::size_t length = length_at(at, code.subspan(at));
    at += std::max<std::size_t>(length, 1);
  }
}

class Walk {
public:
  // `for_tables`: the caller will use through_table.
  Walk(const ElfImage& image, const Function& function, bool for_tables = false)
      : image_(image), function_(function), disassembler_(image.is_64_bit()),
        for_tables_(for_tables) {}

  // Calls `visit` with every instruction in every range.
  template <class Visit>
  void each(const Visit& visit) {
    for (const AddressRange& range : function_.ranges) {
      recent_.clear();
      const std::span<const std::byte> code = code_of(image_, range);
      step_through(code, code.size(), [&](std::size_t at, std::span<const std::byte> rest) {
        const std::optional<Instruction> instruction = disassembler_.decode(rest, range.low + at);
        if (!instruction) {
          return std::size_t{0};
        }
        visit(*instruction);
        if (for_tables_) {
          remember(*instruction, rest);
        }
        return std::size_t{instruction->length};
      });
    }
  }

  // Checks whether an indirect jump goes through a jump table of the function. Call it from within
  // `each`.
  [[nodiscard]] bool through_table(const Instruction& jump) const {
    if (jump.notrack) {
      return true;
    }
    if (jump.through_memory) {
      const Instruction::Memory& memory = *jump.through_memory;
      return memory.base == 0 && memory.index != 0 && leads_back(memory.displacement);
    }
    for (const Recent& recent : recent_) {
      const WriteEffect effect =
          disassembler_.effect(recent.bytes, recent.address, jump.through_register);
      switch (effect.kind) {
      case RegisterWrite::none:
        continue;
      case RegisterWrite::sum:
      case RegisterWrite::sign_extension:
        return true;
      case RegisterWrite::indexed_load:
        return leads_back(effect.table);
      case RegisterWrite::other:
        return false;
      }
    }
    return false;
  }

private:
  struct Recent {
    std::uint64_t address = 0;
    std::span<const std::byte> bytes;
  };

  void remember(const Instruction& instruction, std::span<const std::byte> rest) {
    constexpr std::size_t most = 12;
    if (instruction.kind != Instruction::Kind::other &&
        instruction.kind != Instruction::Kind::push) {
      recent_.clear();
      return;
    }
    recent_.push_front({.address = instruction.address, .bytes = rest.first(instruction.length)});
    if (recent_.size() > most) {
      recent_.pop_back();
    }
  }

  // Checks whether the first entry of the table at this address is code of the function.
  [[nodiscard]] bool leads_back(std::uint64_t table) const {
    const std::size_t size = image_.is_64_bit() ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
    const std::optional<std::vector<std::byte>> bytes = image_.data_at(table, size);
    std::uint64_t entry = 0;
    if (bytes) {
      std::memcpy(&entry, bytes->data(), size);
    }
    return bytes && in_ranges(function_, entry);
  }

  const ElfImage& image_;
  const Function& function_;
  Disassembler disassembler_;
  bool for_tables_;
  std::deque<Recent> recent_; // straight-line code before the current instruction, nearest first
};

// Returns the call instruction that ends at `return_address`, without knowledge of the instruction
// boundaries.
std::optional<std::uint64_t> call_by_shape(const ElfImage& image, std::uint64_t return_address) {
  const Disassembler disassembler(image.is_64_bit());
  // Direct calls come first, then calls through memory with a 32-bit displacement, then the other
  // forms.
  static constexpr std::uint64_t lengths[] = {5, 6, 7, 2, 3, 4, 8};
  for (const std::uint64_t length : lengths) {
    if (return_address < length) {
      continue;
    }
    const std::uint64_t address = return_address - length;
    const std::span<const std::byte> code = image.code_at(address);
    const std::optional<Instruction> instruction =
        disassembler.decode(code.first(std::min<std::size_t>(code.size(), length)), address);
    if (instruction && instruction->kind == Instruction::Kind::call &&
        instruction->end() == return_address) {
      return address;
    }
  }
  return std::nullopt;
}

// Checks whether the register that was popped before a write of the stack pointer is pushed after
// it. A function that frees its arguments does so, and then returns to its caller.
bool keeps_return_address(const Disassembler& disassembler, std::span<const std::byte> before,
                          std::span<const std::byte> after) {
  const std::uint16_t popped =
      before.empty() ? std::uint16_t{0} : disassembler.popped_register(before);
  return popped != 0 && disassembler.pushed_register(after) == popped;
}

// Returns the instructions of the function that control can reach from the given addresses before
// the frame pointer restores the stack, ascending. Does not follow jumps through tables.
std::vector<std::uint64_t> reached_from(std::vector<std::uint64_t> addresses, const ElfImage& image,
                                        const Function& function) {
  const Disassembler disassembler(image.is_64_bit());
  std::set<std::uint64_t> reached;
  while (!addresses.empty()) {
    const std::uint64_t at = addresses.back();
    addresses.pop_back();
    const std::span<const std::byte> code = image.code_at(at);
    const std::optional<Instruction> instruction =
        in_ranges(function, at) ? disassembler.decode(code, at) : std::nullopt;
    if (!instruction || !reached.insert(at).second) {
      continue;
    }
    if (instruction->is_jump() && instruction->target) {
      addresses.push_back(*instruction->target);
    }
    const bool goes_on = instruction->kind != Instruction::Kind::jump &&
                         instruction->kind != Instruction::Kind::ret &&
                         disassembler.stack_pointer_write(code.first(instruction->length)) !=
                             StackPointerWrite::own_frame;
    if (goes_on) {
      addresses.push_back(instruction->end());
    }
  }
  return {reached.begin(), reached.end()};
}

} // namespace

std::vector<std::uint64_t> direct_callees(const ElfImage& image, const FunctionTable& table,
                                          std::uint32_t index) {
  const Function& function = table.functions()[index];
  std::vector<std::uint64_t> callees;
  Walk(image, function).each([&](const Instruction& instruction) {
    if (!instruction.target) {
      return;
    }
    const bool call = instruction.kind == Instruction::Kind::call;
    const bool tail_call = instruction.is_jump() && !in_ranges(function, *instruction.target);
    // `call .+5` reads the instruction pointer.
    if ((call && *instruction.target != instruction.end()) || tail_call) {
      if (table.entry(*instruction.target)) {
        callees.push_back(*instruction.target);
      }
    }
  });
  std::ranges::sort(callees);
  const auto repeats = std::ranges::unique(callees);
  callees.erase(repeats.begin(), repeats.end());
  return callees;
}

bool calls_elsewhere(const ElfImage& image, const FunctionTable& table, std::uint32_t index) {
  const Function& function = table.functions()[index];
  bool found = false;
  Walk walk(image, function, true);
  walk.each([&](const Instruction& instruction) {
    const bool call = instruction.kind == Instruction::Kind::call;
    if (!instruction.target) {
      found = found || call ||
              (instruction.kind == Instruction::Kind::jump && !walk.through_table(instruction));
    } else if ((call && *instruction.target != instruction.end()) ||
               (instruction.is_jump() && !in_ranges(function, *instruction.target))) {
      found = found || !table.entry(*instruction.target);
    }
  });
  return found;
}

std::vector<Exit> exit_points(const ElfImage& image, const FunctionTable& table,
                              std::uint32_t index) {
  const Function& function = table.functions()[index];
  std::vector<Exit> exits;
  Walk walk(image, function, true);
  walk.each([&](const Instruction& instruction) {
    if (instruction.kind == Instruction::Kind::ret) {
      exits.push_back({.address = instruction.address, .kind = Exit::Kind::ret});
    } else if (instruction.is_jump() && instruction.target) {
      if (!in_ranges(function, *instruction.target)) {
        exits.push_back({.address = instruction.address,
                         .kind = instruction.kind == Instruction::Kind::jump
                                     ? Exit::Kind::jump
                                     : Exit::Kind::conditional_jump,
                         .target = *instruction.target});
      }
    } else if (instruction.kind == Instruction::Kind::jump && !walk.through_table(instruction)) {
      exits.push_back({.address = instruction.address, .kind = Exit::Kind::indirect_jump});
    }
  });
  std::ranges::sort(exits, {}, &Exit::address);
  return exits;
}

std::vector<std::uint64_t> entry_instructions(const ElfImage& image, const FunctionTable& table,
                                              std::uint32_t index) {
  constexpr std::size_t most = 8;
  constexpr std::size_t most_where_jumps_are_unknown = 2; // compilers put no label between these
  const Function& function = table.functions()[index];
  std::set<std::uint64_t> targets;
  bool jumps_anywhere = false;
  Walk(image, function).each([&](const Instruction& instruction) {
    if (instruction.is_jump() || instruction.kind == Instruction::Kind::call) {
      jumps_anywhere |= instruction.is_jump() && !instruction.target;
      targets.insert(instruction.target.value_or(0));
    }
  });
  const Disassembler disassembler(image.is_64_bit());
  std::span<const std::byte> code = image.code_at(function.address);
  std::uint64_t at = function.address;
  std::vector<std::uint64_t> addresses;
  const std::size_t limit = jumps_anywhere ? most_where_jumps_are_unknown : most;
  while (addresses.size() < limit && in_ranges(function, at)) {
    const std::optional<Instruction> instruction = disassembler.decode(code, at);
    if (!instruction || (!addresses.empty() && targets.contains(at))) {
      break;
    }
    addresses.push_back(at);
    if (!disassembler.is_plain(code.first(instruction->length))) {
      break;
    }
    code = code.subspan(instruction->length);
    at = instruction->end();
  }
  return addresses;
}

std::vector<CallInstruction> call_instructions(const ElfImage& image, const FunctionTable& table,
                                               std::uint32_t index) {
  std::vector<CallInstruction> calls;
  Walk(image, table.functions()[index]).each([&calls](const Instruction& instruction) {
    if (instruction.kind == Instruction::Kind::call) {
      calls.push_back({.address = instruction.address,
                       .return_address = instruction.end(),
                       .target = instruction.target});
    }
  });
  std::ranges::sort(calls, {}, &CallInstruction::return_address);
  return calls;
}

std::vector<std::uint64_t>
after_stack_replacement(const ElfImage& image, const FunctionTable& table, std::uint32_t index) {
  const Function& function = table.functions()[index];
  const Disassembler disassembler(image.is_64_bit());
  std::vector<std::uint64_t> after;
  for (const AddressRange& range : function.ranges) {
    const std::span<const std::byte> code = code_of(image, range);
    std::span<const std::byte> before;
    step_through(code, disassembler.end_of_stack_pointer_writes(code),
                 [&](std::size_t at, std::span<const std::byte> rest) {
                   const std::size_t length = disassembler.length(rest);
                   const std::span<const std::byte> own = rest.first(length);
                   if (disassembler.end_of_stack_pointer_writes(own) != 0 &&
                       disassembler.stack_pointer_write(own) == StackPointerWrite::foreign &&
                       !keeps_return_address(disassembler, before, rest.subspan(length))) {
                     after.push_back(range.low + at + length);
                   }
                   before = own;
                   return length;
                 });
  }
  return reached_from(std::move(after), image, function);
}

std::optional<std::uint64_t> call_out_of_line(const ElfImage& image, const FunctionTable& table,
                                              std::uint64_t return_address) {
  if (return_address == 0) {
    return std::nullopt;
  }
  bool boundary = false; // some instruction ends at the return address
  if (const std::optional<std::uint32_t> index = table.at(return_address - 1)) {
    Walk(image, table.functions()[*index]).each([&](const Instruction& instruction) {
      boundary = boundary || instruction.end() == return_address;
    });
  }
  return boundary ? std::nullopt : call_by_shape(image, return_address);
}

} // namespace ptlens::symbols
