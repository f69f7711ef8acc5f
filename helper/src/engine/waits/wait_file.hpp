// Waits as bytes: CBOR, in which the waits themselves are rows of fixed size.
#pragma once

#include "waits/waits.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptlens::engine {

// Encodes the waits together with the key of what they were read from (cache_key.hpp).
[[nodiscard]] std::string wait_bytes(const waits::Waits& waits, std::string_view key);

struct StoredWaits {
  std::string key;
  waits::Waits waits;
};
// Returns nothing where the bytes are damaged.
[[nodiscard]] std::optional<StoredWaits> waits_from(std::string_view bytes);

} // namespace ptlens::engine
