// A place in the source, by name.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace ptlens::measure {

struct SourcePlace { // empty and 0 where unknown
  std::string function;
  std::string binary;
  std::string file;
  std::uint32_t line = 0;

  auto operator<=>(const SourcePlace&) const = default;
};

} // namespace ptlens::measure
