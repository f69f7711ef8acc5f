// Which function is at a source line, in the binaries of a process or a program.
#pragma once

#include "server/host.hpp"

namespace ptlens::server {

// Binaries: those mapped by `pid`, else `program`, else those of every process that was built from
// `file`. Candidates: functions at the line that have the name; else functions of the name (the
// cursor is on a call), first in binaries made from the file; else what the language server's
// symbol means: the functions declared on its line; else functions at the line, the innermost
// (a lambda) first; else functions of the symbol's name. Errors: those of record::mapped_binaries
// and, for `program`, of symbols::Binary::open.
[[nodiscard]] Result<FunctionsAt> functions_at(const FunctionAtRequest& request);

} // namespace ptlens::server
