// What the machine code and the exception tables say about unusual transfers of control, each
// looked up once for the whole recording.
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
  // Process address of the landing pad for exceptions out of the call that returns to
  // `return_address`; 0 where they pass on to the caller.
  [[nodiscard]] std::uint64_t landing_pad(const symbols::AddressSpaceVersion& space,
                                          std::uint64_t return_address);

  // See symbols::Binary::replaces_stack. False where the code is not known.
  [[nodiscard]] bool replaces_stack(const symbols::AddressSpaceVersion& space,
                                    std::uint64_t address);

  // The same of the instruction by which a way of those points ends, which must outlive this. False
  // where `asks` says, once it is asked, that it does not matter: nothing is looked up then.
  template <class Asks>
  [[nodiscard]] bool replaces_stack(const symbols::AddressSpaceVersion& space,
                                    const flow::CodePoints& points, flow::BlockIndex way,
                                    const Asks& asks) {
    if (points_ != &points) {
      points_ = &points;
      of_ways_ = &by_points_[&points];
    }
    if (way >= of_ways_->size()) {
      of_ways_->resize(std::max<std::size_t>(std::size_t{way} + 1, 2 * of_ways_->size()));
    }
    Known& known = (*of_ways_)[way];
    if (known == Known::no || !asks()) {
      return false;
    }
    if (known == Known::nothing) {
      known = replaces_stack(space, points.ways[way].end_address) ? Known::yes : Known::no;
    }
    return known == Known::yes;
  }

private:
  enum class Known : std::uint8_t { nothing, no, yes };

  struct OfBinary { // by ELF address
    flow::AddressMap<std::uint64_t> landing_pads;
    flow::AddressMap<bool> replaces_stack;
  };

  std::unordered_map<const symbols::Binary*, OfBinary> known_;
  std::unordered_map<const flow::CodePoints*, std::vector<Known>> by_points_; // by way
  const flow::CodePoints* points_ = nullptr;
  std::vector<Known>* of_ways_ = nullptr; // of those points
};

} // namespace ptlens::stacks
