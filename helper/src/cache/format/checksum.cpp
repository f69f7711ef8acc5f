// XXH3 is compiled from its header, so that no library is needed at run time.
#include "cache/format/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ptlens::cache {

std::uint32_t checksum_of(const EdgeEntry& edge, std::span<const BlockEntry> blocks) {
  const auto own = std::as_bytes(std::span(&edge, 1)).first(offsetof(EdgeEntry, checksum));
  const auto listed = std::as_bytes(blocks);
  return static_cast<std::uint32_t>(
      XXH3_64bits_withSeed(listed.data(), listed.size(), checksum(own)));
}

} // namespace ptlens::cache
