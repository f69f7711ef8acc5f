// Edit distance of names.
#pragma once

#include <cstddef>
#include <string_view>

namespace ptlens::symbols {

// Returns the optimal string alignment distance: the number of insertions, deletions, substitutions
// and swaps of neighbours. Returns `limit` for every distance of `limit` or more.
[[nodiscard]] std::size_t edit_distance(std::string_view one, std::string_view other,
                                        std::size_t limit);

} // namespace ptlens::symbols
