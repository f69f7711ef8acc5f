// The order of registers in a sample: arch/x86/include/uapi/asm/perf_regs.h.
#include "waits/user_stacks.hpp"

#include "perfdata/bytes/byte_reader.hpp"
#include "waits/samples.hpp"

#include <array>
#include <utility>

namespace ptlens::waits {
namespace {

constexpr std::size_t most_frames = 64;

// DWARF numbers of the registers of a sample, by bit; -1: not needed.
constexpr std::array<int, 24> dwarf_numbers = {0,  3,  2,  1,  4, 5, 6,  7,  16, -1, -1, -1,
                                               -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15};

symbols::FrameRegisters registers_of(std::span<const std::byte> values, std::uint64_t which) {
  symbols::FrameRegisters registers;
  perfdata::ByteReader reader(values);
  for (std::size_t bit = 0; bit < dwarf_numbers.size(); ++bit) {
    if (((which >> bit) & 1U) == 0) {
      continue;
    }
    const auto value = reader.read<std::uint64_t>();
    if (dwarf_numbers[bit] >= 0 && !reader.failed()) {
      registers.value[static_cast<std::size_t>(dwarf_numbers[bit])] = value;
    }
  }
  return registers;
}

// Goes to the caller by the frame pointer. Returns false where it does not lead up the stack.
bool follow_frame_pointer(const symbols::StackCopy& stack, symbols::FrameRegisters& registers) {
  using Registers = symbols::FrameRegisters;
  constexpr std::uint64_t word = sizeof(std::uint64_t);
  const auto frame = registers.value[Registers::rbp];
  const auto top = registers.value[Registers::rsp];
  if (!frame || (top && *frame < *top)) {
    return false;
  }
  const auto outer = stack.word(*frame);
  const auto address = stack.word(*frame + word);
  if (!outer || !address || *address == 0) {
    return false;
  }
  registers = {};
  registers.value[Registers::rbp] = outer;
  registers.value[Registers::ip] = address;
  registers.value[Registers::rsp] = *frame + 2 * word;
  return true;
}

// The kernel's page of probes is mapped as "[uprobes]", after the recording has begun.
bool is_of_probes(const symbols::MappedCode* mapped) {
  return mapped == nullptr || mapped->path == "[uprobes]";
}

} // namespace

StackId UserStacks::stack_of(const perfdata::Sample& sample, std::uint64_t registers) {
  const symbols::AddressSpaceVersion& space = spaces_.at(sample.pid, sample.time_ns);
  const symbols::FrameRegisters values = registers_of(sample.registers, registers);
  const auto stack_pointer = values.value[symbols::FrameRegisters::rsp];
  if (values.value[symbols::FrameRegisters::ip] && stack_pointer) {
    return number(
        unwind(space, values, {.address = *stack_pointer, .bytes = sample.user_stack}, sample.tid));
  }
  return number(from_chain(space, sample.chain));
}

std::vector<stacks::SiteId> UserStacks::unwind(const symbols::AddressSpaceVersion& space,
                                               symbols::FrameRegisters registers,
                                               const symbols::StackCopy& stack, std::int32_t tid) {
  std::vector<stacks::SiteId> sites;
  while (sites.size() < most_frames) {
    const std::uint64_t address = registers.value[symbols::FrameRegisters::ip].value_or(0);
    const bool is_caller = !sites.empty();
    const symbols::MappedCode* const mapped = space.find(address);
    if (mapped == nullptr) {
      break;
    }
    sites.push_back(site(space, address, is_caller));
    symbols::CallFrames* const frames =
        mapped->binary == nullptr ? nullptr : frames_of(*mapped->binary);
    const std::uint64_t in_file = address - mapped->bias - (is_caller ? 1 : 0);
    const auto step = frames == nullptr ? symbols::CallFrames::Step::no_information
                                        : frames->step(in_file, stack, registers);
    if (step == symbols::CallFrames::Step::ended ||
        (step == symbols::CallFrames::Step::no_information &&
         !follow_frame_pointer(stack, registers))) {
      break;
    }
    restore_return(space, tid, registers);
  }
  return sites;
}

// A function that was entered by a tail call finds the address that was replaced already.
void UserStacks::add_entry(const perfdata::Sample& sample, std::uint64_t stack_pointer,
                           std::uint64_t return_address) {
  if (!is_of_probes(spaces_.at(sample.pid, sample.time_ns).find(return_address))) {
    returns_[sample.tid][stack_pointer] = return_address;
  }
}

void UserStacks::restore_return(const symbols::AddressSpaceVersion& space, std::int32_t tid,
                                symbols::FrameRegisters& registers) const {
  const auto address = registers.value[symbols::FrameRegisters::ip];
  const auto top = registers.value[symbols::FrameRegisters::rsp];
  if (!address || !top || !is_of_probes(space.find(*address))) {
    return;
  }
  const auto thread = returns_.find(tid);
  if (thread == returns_.end()) {
    return;
  }
  const auto known = thread->second.find(*top - sizeof(std::uint64_t));
  if (known != thread->second.end()) {
    registers.value[symbols::FrameRegisters::ip] = known->second;
  }
}

std::vector<stacks::SiteId> UserStacks::from_chain(const symbols::AddressSpaceVersion& space,
                                                   std::span<const std::byte> chain) {
  std::vector<stacks::SiteId> sites;
  for (const std::uint64_t address : user_chain(chain)) {
    if (space.find(address) == nullptr || sites.size() == most_frames) {
      break;
    }
    sites.push_back(site(space, address, !sites.empty()));
  }
  return sites;
}

stacks::SiteId UserStacks::site(const symbols::AddressSpaceVersion& space, std::uint64_t address,
                                bool is_caller) {
  if (!is_caller) {
    return symbolizer_.site(space, address);
  }
  const stacks::SiteId call = symbolizer_.site_before(space, address);
  return call == stacks::SiteId::none ? symbolizer_.site(space, address - 1) : call;
}

symbols::CallFrames* UserStacks::frames_of(const symbols::Binary& binary) {
  const auto [entry, added] = frames_.try_emplace(&binary);
  if (added) {
    if (auto opened = symbols::CallFrames::open(binary.path())) {
      entry->second.emplace(std::move(*opened));
    }
  }
  return entry->second ? &*entry->second : nullptr;
}

StackId UserStacks::number(std::vector<stacks::SiteId> stack) {
  if (stack.empty()) {
    return StackId::none;
  }
  const auto [entry, added] = numbers_.try_emplace(std::move(stack), stacks_.next_id());
  if (added) {
    stacks_.push_back(entry->first);
  }
  return entry->second;
}

void UserStacks::finish(Waits& waits) {
  waits.functions = std::move(symbolizer_.functions());
  waits.sites = std::move(symbolizer_.sites());
  waits.stacks = std::move(stacks_);
}

} // namespace ptlens::waits
