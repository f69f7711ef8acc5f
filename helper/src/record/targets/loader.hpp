// The libraries that a program will load when it starts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// Returns the program interpreter (PT_INTERP) of an ELF file, or an empty string for a static
// program or another file.
[[nodiscard]] std::string interpreter_of(const std::string& program);

// Returns the paths in the output of `ld.so --list`: "libc.so.6 => /lib/.../libc.so.6 (0x7f...)".
[[nodiscard]] std::vector<std::string> parse_library_list(std::string_view text);

// Runs the program's interpreter, which lists the libraries without running the program.
// `environment` is added to the helper's own ("LD_LIBRARY_PATH=..."). Returns an empty list when
// the interpreter fails.
[[nodiscard]] std::vector<std::string> libraries_of(const std::string& program,
                                                    const std::string& working_directory,
                                                    const std::vector<std::string>& environment);

} // namespace ptlens::record
