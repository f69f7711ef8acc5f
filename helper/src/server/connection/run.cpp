// `ptlens serve` with the real host.
#include "server/connection/serve.hpp"
#include "server/server.hpp"

namespace ptlens::server {

int run(int input_fd, int output_fd, const std::string& version) {
  return serve(input_fd, output_fd, version, real_host());
}

} // namespace ptlens::server
