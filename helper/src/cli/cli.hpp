// The command line: one subcommand each, over the same engine as the server.
#pragma once

#include <string>

namespace ptlens::cli {

// Runs the command. Returns the exit status: 0 done, 1 the work failed (one line on stderr), 2 bad
// usage. Results alone go to stdout.
[[nodiscard]] int run(int argc, char** argv, const std::string& version);

} // namespace ptlens::cli
