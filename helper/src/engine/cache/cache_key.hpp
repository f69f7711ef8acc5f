// The key of a call cache: everything that the calls of a recording depend on. These are the
// recording, the options, this build of the helper, and each file that was read or not found while
// decoding. A cache is valid while none of them has changed.
#pragma once

#include "engine/recording/open_options.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ptlens::engine {

// Returns the key. `data`: the recording's trace file. `files`: all other files that were opened or
// looked for.
[[nodiscard]] std::string cache_key(const std::string& recording, const std::string& data,
                                    const OpenOptions& options, const std::set<std::string>& files);

// Returns why the key does not match the present recording and options, as a message for the user;
// empty where it matches.
[[nodiscard]] std::string mismatch(std::string_view key, const std::string& recording,
                                   const std::string& data, const OpenOptions& options);

// Returns the hash of the options. Options with equal hashes share a cache.
[[nodiscard]] std::uint64_t options_hash(const std::string& recording, const std::string& data,
                                         const OpenOptions& options);

} // namespace ptlens::engine
