// The checksum of every part of a store: XXH3, 64 bits (Collet, https://xxhash.com), several GB a
// second. It finds damage, it is no seal against an attacker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ptlens::store {

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

} // namespace ptlens::store
