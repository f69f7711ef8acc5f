// The user's stacks of samples: unwound from the registers and the copy of the stack, or by the
// frame pointer where code has no call frame information, or from the sample's own call chain.
#pragma once

#include "perfdata/contents/records.hpp"
#include "stacks/transfer/symbolizer.hpp"
#include "symbols/address_space.hpp"
#include "symbols/dwarf/call_frames.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ptlens::waits {

class UserStacks {
public:
  // The spaces must outlive the object.
  explicit UserStacks(const symbols::AddressSpaces& spaces) : spaces_(spaces) {}

  // Takes an entry into a function whose return a probe observes. The kernel replaces the return
  // address on the stack then, so that the stack no longer shows the caller.
  void add_entry(const perfdata::Sample& sample, std::uint64_t stack_pointer,
                 std::uint64_t return_address);

  // Returns the stack of the sample's thread; none where it is not known. `registers`: which ones
  // the samples of its event contain, see Attribute.
  [[nodiscard]] StackId stack_of(const perfdata::Sample& sample, std::uint64_t registers);

  // Moves the stacks, and what they refer to, into the table.
  void finish(Waits& waits);

private:
  [[nodiscard]] std::vector<stacks::SiteId> unwind(const symbols::AddressSpaceVersion& space,
                                                   symbols::FrameRegisters registers,
                                                   const symbols::StackCopy& stack,
                                                   std::int32_t tid);
  void restore_return(const symbols::AddressSpaceVersion& space, std::int32_t tid,
                      symbols::FrameRegisters& registers) const;
  [[nodiscard]] std::vector<stacks::SiteId> from_chain(const symbols::AddressSpaceVersion& space,
                                                       std::span<const std::byte> chain);
  [[nodiscard]] stacks::SiteId site(const symbols::AddressSpaceVersion& space,
                                    std::uint64_t address, bool is_caller);
  [[nodiscard]] symbols::CallFrames* frames_of(const symbols::Binary& binary);
  [[nodiscard]] StackId number(std::vector<stacks::SiteId> stack);

  const symbols::AddressSpaces& spaces_;
  stacks::Symbolizer symbolizer_;
  std::map<const symbols::Binary*, std::optional<symbols::CallFrames>> frames_;
  std::map<std::vector<stacks::SiteId>, StackId> numbers_;
  IdVector<StackId, std::vector<stacks::SiteId>> stacks_;
  // Return addresses by thread and by where they were on the stack, of the last entry each.
  std::map<std::int32_t, std::map<std::uint64_t, std::uint64_t>> returns_;
};

} // namespace ptlens::waits
