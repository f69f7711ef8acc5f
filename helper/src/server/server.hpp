// `ptlens serve`: JSON-RPC 2.0 with the framing and lifecycle of the Language Server Protocol.
#pragma once

#include <string>

namespace ptlens::server {

// Serves one client until `exit`, the end of its input, its death, or SIGTERM, SIGINT or SIGHUP. A
// recording that runs then is finalised; no child process, probe or thread is left. Returns the
// exit status: 0 after `shutdown`, else 1. Blocks; the descriptors stay open.
[[nodiscard]] int run(int input_fd, int output_fd, const std::string& version);

} // namespace ptlens::server
