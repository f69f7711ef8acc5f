// The description in a cache: the functions, call sites and threads whose indices the calls
// contain, and further data of the writer.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::cache {

struct Description {
  stacks::Functions functions;
  stacks::CallSites sites;
  std::vector<stacks::ThreadInfo> threads;
  std::string more; // further data
};

// Encodes the description. Equal strings are written once.
[[nodiscard]] std::vector<std::byte> to_bytes(const Description& description);

// Decodes a description. Returns nothing where the bytes are not a description, or a call site
// refers to a function that does not exist.
[[nodiscard]] std::optional<Description> description_from(std::span<const std::byte> bytes);

} // namespace ptlens::cache
