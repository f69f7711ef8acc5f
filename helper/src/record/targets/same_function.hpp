// A function that was chosen in one build of a binary, in another build. Its address has changed;
// its names and its place in the source are likely the same.
#pragma once

#include "record/request.hpp"
#include "symbols/binary.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::record {

// Returns whether the function's address, if it has one, is an address in this binary: it was
// chosen in the same build, or its build is not known.
[[nodiscard]] bool is_of_build(const WantedFunction& wanted, const symbols::Binary& binary);

// Returns the functions of the binary that the wanted one can be. The first that finds some
// decides: the linkage name, the name, the name without parameters. Of several, those in the same
// source file are returned, and of these the nearest to the line.
[[nodiscard]] std::vector<std::uint32_t> same_functions(const WantedFunction& wanted,
                                                        const symbols::Binary& binary);

} // namespace ptlens::record
