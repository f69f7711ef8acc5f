// Debug information and binaries from the servers that DEBUGINFOD_URLS names (debuginfod(8)), by
// build-id. Nothing is fetched until the user has allowed it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ptlens::symbols {

// For the whole process. A fetch that takes longer than `limit` is given up, and no other is begun.
// False, and nothing is allowed, where libdebuginfod is not installed.
[[nodiscard]] bool allow_debuginfod(std::chrono::milliseconds limit);
[[nodiscard]] bool debuginfod_allowed();

// The file in the cache of debuginfod; nothing where it is not allowed, or no server has it.
[[nodiscard]] std::optional<std::string> fetch_debug_file(std::span<const std::uint8_t> build_id);
[[nodiscard]] std::optional<std::string> fetch_binary(std::span<const std::uint8_t> build_id);

} // namespace ptlens::symbols
