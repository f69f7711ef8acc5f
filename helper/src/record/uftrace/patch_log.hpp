// What uftrace says about the functions that it patches (`--debug-domain=dynamic:3`,
// libmcount/dynamic.c of 0.13).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

struct PatchLog {
  std::vector<std::string> patched; // linkage names
  std::vector<std::string> failed;  // each once, in the order of the log
  std::string message;              // the last line that is not about patches; empty: none
};

// Reads the log. A function that was patched and then restored counts as failed.
[[nodiscard]] PatchLog parse_patch_log(std::string_view text);

// Returns the last line of the text that is not empty, without escape sequences for colours.
[[nodiscard]] std::string last_plain_line(std::string_view text);

} // namespace ptlens::record
