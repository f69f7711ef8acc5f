// Converts between process addresses and addresses of the binary.
#include "stacks/transfer/code_facts.hpp"

namespace ptlens::stacks {

std::uint64_t CodeFacts::landing_pad(const symbols::AddressSpaceVersion& space,
                                     std::uint64_t return_address) {
  const symbols::MappedCode* mapped = space.find(return_address - 1);
  if (return_address == 0 || mapped == nullptr || !mapped->binary) {
    return 0;
  }
  const std::uint64_t elf_address = return_address - mapped->bias;
  const auto [entry, added] = known_[mapped->binary.get()].landing_pads.try_emplace(elf_address, 0);
  if (added) {
    entry.value() = mapped->binary->landing_pad(elf_address).value_or(0);
  }
  return entry->second == 0 ? 0 : entry->second + mapped->bias;
}

bool CodeFacts::replaces_stack(const symbols::AddressSpaceVersion& space, std::uint64_t address) {
  const symbols::MappedCode* mapped = space.find(address);
  if (mapped == nullptr || !mapped->binary) {
    return false;
  }
  const std::uint64_t elf_address = address - mapped->bias;
  const auto [entry, added] =
      known_[mapped->binary.get()].replaces_stack.try_emplace(elf_address, false);
  if (added) {
    entry.value() = mapped->binary->replaces_stack(elf_address);
  }
  return entry->second;
}

} // namespace ptlens::stacks
