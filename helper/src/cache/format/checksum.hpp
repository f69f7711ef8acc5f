// The checksum of every section of a cache.
#pragma once

#include "base/checksum.hpp"
#include "cache/format/format.hpp"

#include <cstdint>
#include <span>

namespace ptlens::cache {

// Returns the low half of the checksum of an edge, without the checksum in it, and of the entries
// of its blocks.
[[nodiscard]] std::uint32_t checksum_of(const EdgeEntry& edge, std::span<const BlockEntry> blocks);

} // namespace ptlens::cache
