#pragma once

#include "symbols/binary.hpp"

#include <cstdint>
#include <memory>

namespace ptlens::record {

// A function in an opened binary.
struct Place {
  std::shared_ptr<const symbols::Binary> binary;
  std::uint32_t function = 0; // index

  [[nodiscard]] const symbols::Function& operator*() const { return binary->functions()[function]; }
  [[nodiscard]] const symbols::Function* operator->() const { return &**this; }
};

} // namespace ptlens::record
