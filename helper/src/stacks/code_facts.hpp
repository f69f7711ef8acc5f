// What the machine code and the exception tables say about unusual transfers of control, each
// looked up once for the whole recording.
#pragma once

#include "flow/address_map.hpp"
#include "symbols/address_space.hpp"

#include <cstdint>
#include <unordered_map>

namespace ptlens::stacks {

class CodeFacts {
public:
  // Process address of the landing pad for exceptions out of the call that returns to
  // `return_address`; 0 where they pass on to the caller.
  [[nodiscard]] std::uint64_t landing_pad(const symbols::AddressSpaceVersion& space,
                                          std::uint64_t return_address);

  // See symbols::Binary::replaces_stack. False where the code is not known.
  [[nodiscard]] bool replaces_stack(const symbols::AddressSpaceVersion& space,
                                    std::uint64_t address);

private:
  struct OfBinary { // by ELF address
    flow::AddressMap<std::uint64_t> landing_pads;
    flow::AddressMap<bool> replaces_stack;
  };

  std::unordered_map<const symbols::Binary*, OfBinary> known_;
};

} // namespace ptlens::stacks
