// Which function is at a source line, in the binaries of a process or a program.
#pragma once

#include "server/host/host.hpp"

namespace ptlens::server {

// Returns the functions that a source line means. It searches the binaries mapped by `pid`, else
// `program`, else the binaries of every process that was built from `file`. Candidates, first
// match:
// 1. functions at the line that have the name; 2. functions of the name, because the cursor is on a
// call, first in binaries built from the file; 3. functions declared on the line of the language
// server's symbol; 4. functions at the line, the innermost (a lambda) first; 5. functions of the
// symbol's name. Errors: those of record::process_files and, for `program`, of
// symbols::Binary::open.
[[nodiscard]] Result<FunctionsAt> functions_at(const protocol::FunctionAtParams& request);

} // namespace ptlens::server
