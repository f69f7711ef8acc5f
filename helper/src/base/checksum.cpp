// XXH3 is compiled from its header, so that no library is needed at run time.
#include "base/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ptlens {

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t checksum(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

struct RunningChecksum::State {
  XXH3_state_t state;
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->state);
}
RunningChecksum::RunningChecksum(RunningChecksum&&) noexcept = default;
RunningChecksum& RunningChecksum::operator=(RunningChecksum&&) noexcept = default;
RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->state, bytes.data(), bytes.size());
}

std::uint64_t RunningChecksum::value() const {
  return XXH3_64bits_digest(&state_->state);
}

} // namespace ptlens
