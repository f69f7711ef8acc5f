// XXH3 from its header: no library is needed at run time.
#include "store/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ptlens::store {

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

} // namespace ptlens::store
