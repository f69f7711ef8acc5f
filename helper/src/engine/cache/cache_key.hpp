// What the calls of a recording depend on: the recording, the options, this helper, and each file
// that was read or missed on the way. A store is valid while all of it is as it was.
#pragma once

#include "engine/engine.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ptlens::engine {

// `data` is the recording's file of trace, `files` what was opened or looked for besides.
[[nodiscard]] std::string store_key(const std::string& recording, const std::string& data,
                                    const OpenOptions& options, const std::set<std::string>& files);

// Why the key is not that of the recording and the options as they are now, in words for the user;
// empty where it is.
[[nodiscard]] std::string mismatch(std::string_view key, const std::string& recording,
                                   const std::string& data, const OpenOptions& options);

// Of the options alone: those with the same have the same store.
[[nodiscard]] std::uint64_t options_hash(const std::string& recording, const std::string& data,
                                         const OpenOptions& options);

} // namespace ptlens::engine
