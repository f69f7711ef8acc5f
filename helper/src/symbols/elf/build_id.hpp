// Build-ids as text, and the paths of files that are stored by build-id.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

// Returns the build-id of the file from its notes; empty where it has none.
[[nodiscard]] std::vector<std::uint8_t> read_build_id(Elf* elf);

// Returns the id in lower-case hexadecimal.
[[nodiscard]] std::string build_id_text(std::span<const std::uint8_t> build_id);

// Returns "ROOT/.build-id/01/2345…" for the id 012345…, given as text: the layout of perf's
// build-id cache and of /usr/lib/debug. Returns nothing for an id of one byte or less.
[[nodiscard]] std::optional<std::string> build_id_path(std::string_view root,
                                                       std::string_view build_id);

} // namespace ptlens::symbols
