// Which libraries a program will load when it is started.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// The program interpreter (PT_INTERP) of an ELF file, empty for a static program or another file.
[[nodiscard]] std::string interpreter_of(const std::string& program);

// Paths in what `ld.so --list` prints: "libc.so.6 => /lib/.../libc.so.6 (0x7f...)".
[[nodiscard]] std::vector<std::string> parse_library_list(std::string_view text);

// Asks the program's interpreter, which finds them without running the program. `environment` is
// added to ours ("LD_LIBRARY_PATH=..."). Empty when it does not say.
[[nodiscard]] std::vector<std::string> libraries_of(const std::string& program,
                                                    const std::string& working_directory,
                                                    const std::vector<std::string>& environment);

} // namespace ptlens::record
