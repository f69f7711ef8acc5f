// What the machine code and the exception tables say about unusual transfers of control. Each fact
// is looked up once for the whole recording.
#pragma once

#include "flow/code/address_map.hpp"
#include "flow/code/code_points.hpp"
#include "symbols/address_space.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptlens::stacks {

class CodeFacts {
public:
  // Returns the process address of the landing pad for exceptions out of the call that returns to
  // `return_address`; 0 where they pass on to the caller.
  [[nodiscard]] std::uint64_t landing_pad(const symbols::AddressSpaceVersion& space,
                                          std::uint64_t return_address);

  // See symbols::Binary::replaces_stack. Returns false where the code is not known.
  [[nodiscard]] bool replaces_stack(const symbols::AddressSpaceVersion& space,
                                    std::uint64_t address);

  // The same for the instruction that ends a block of those points, which must outlive this object.
  // Returns false where `matters()` does, which is called only where the answer depends on it.
  template <class Matters>
  [[nodiscard]] bool replaces_stack(const symbols::AddressSpaceVersion& space,
                                    const flow::CodePoints& points, flow::BlockId block,
                                    const Matters& matters) {
    if (points_ != &points) {
      points_ = &points;
      of_blocks_ = &by_points_[&points];
    }
    const std::size_t index = index_of(block);
    if (index >= of_blocks_->size()) {
      of_blocks_->resize(std::max<std::size_t>(index + 1, 2 * of_blocks_->size()));
    }
    Known& known = (*of_blocks_)[index];
    if (known == Known::nothing) { // once, which costs less than to ask again whether it matters
      known = replaces_stack(space, points.blocks[index].end_address) ? Known::yes : Known::no;
    }
    return known == Known::yes && matters();
  }

private:
  enum class Known : std::uint8_t { nothing, no, yes };

  struct OfBinary { // by ELF address
    flow::AddressMap<std::uint64_t> landing_pads;
    flow::AddressMap<bool> replaces_stack;
  };

  std::unordered_map<const symbols::Binary*, OfBinary> known_;
  std::unordered_map<const flow::CodePoints*, std::vector<Known>> by_points_; // by block
  const flow::CodePoints* points_ = nullptr;
  std::vector<Known>* of_blocks_ = nullptr; // of those points
};

} // namespace ptlens::stacks
