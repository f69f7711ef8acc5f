#include "waits/kernel_names.hpp"

#include <algorithm>
#include <iterator>

namespace ptlens::waits {

std::string_view KernelNames::at(std::uint64_t address) const {
  const auto next = std::ranges::upper_bound(symbols_, address, {},
                                             &std::pair<std::uint64_t, std::string>::first);
  return next == symbols_.begin() ? std::string_view() : std::string_view(std::prev(next)->second);
}

} // namespace ptlens::waits
