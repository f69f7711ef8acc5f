// The loop between file descriptors and a connection. run() calls serve() with the real host.
#pragma once

#include "server/host/host.hpp"

#include <string>

namespace ptlens::server {

[[nodiscard]] int serve(int input_fd, int output_fd, const std::string& version, Host host);

} // namespace ptlens::server
