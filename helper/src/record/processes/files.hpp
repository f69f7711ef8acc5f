// Small files such as those of /proc and /sys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::record {

// Returns the first `limit` bytes of a file, or nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path,
                                                   std::size_t limit = 1 << 20);

// Returns the number in a file such as /proc/sys/kernel/perf_event_paranoid.
[[nodiscard]] std::optional<std::int64_t> read_number(const std::string& path);

// Returns the target of a symbolic link, or an empty string when it cannot be read.
[[nodiscard]] std::string link_target(const std::string& path);

} // namespace ptlens::record
