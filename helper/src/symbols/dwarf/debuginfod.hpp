// Debug information and binaries by build-id from the servers in DEBUGINFOD_URLS (debuginfod(8)).
// Nothing is downloaded until the user has allowed it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ptlens::symbols {

// Allows downloads for the whole process. A download that takes longer than `limit` is cancelled,
// and no other one begins. Returns false, and allows nothing, where libdebuginfod is not installed.
[[nodiscard]] bool allow_debuginfod(std::chrono::milliseconds limit);
[[nodiscard]] bool debuginfod_allowed();

// Returns the path in debuginfod's cache; nothing where downloads are not allowed or no server has
// the file.
[[nodiscard]] std::optional<std::string> fetch_debug_file(std::span<const std::uint8_t> build_id);
[[nodiscard]] std::optional<std::string> fetch_binary(std::span<const std::uint8_t> build_id);

} // namespace ptlens::symbols
