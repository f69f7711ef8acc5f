// The state of files: when they were written, their sizes and build-ids.
#pragma once

#include <cstdint>
#include <string>

namespace ptlens::source {

// Returns when the file was last written, in ns since 1970; 0 where there is no regular file.
[[nodiscard]] std::int64_t changed_ns(const std::string& path);

// Returns whether the first time is certainly after the second one. Some file systems store whole
// seconds only, so that times less than a second apart count as equal.
[[nodiscard]] bool is_later(std::int64_t time_ns, std::int64_t than_ns);

// Returns the size in bytes; 0 where there is no such file.
[[nodiscard]] std::uint64_t size_of(const std::string& path);

// Returns the build-id of an ELF file in hex; empty where it has none or cannot be read.
[[nodiscard]] std::string build_id_of(const std::string& path);

} // namespace ptlens::source
