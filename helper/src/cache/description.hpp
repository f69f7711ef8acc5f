// What a store says beside its calls: the functions, sites and threads that they name by index, and
// whatever else its maker wants to keep.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::cache {

struct Description {
  std::vector<stacks::FunctionInfo> functions;
  std::vector<stacks::CallSite> sites;
  std::vector<stacks::ThreadInfo> threads;
  std::string more; // of the maker
};

// Every different string is written once.
[[nodiscard]] std::vector<std::byte> to_bytes(const Description& description);

// Nothing where the bytes are not those of a description, or a site names a function that is not
// there.
[[nodiscard]] std::optional<Description> description_from(std::span<const std::byte> bytes);

} // namespace ptlens::cache
