// Sends messages to the client.
#include "server/rpc/output.hpp"

#include "export/json/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <poll.h>
#include <string_view>
#include <unistd.h>

namespace ptlens::server {

void Output::send(const protocol::Json& message) {
  const std::string body = exporting::dump(message);
  const std::string frame = fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
  const std::lock_guard lock(mutex_);
  std::string_view rest = frame;
  while (!rest.empty() && !broken_) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      pollfd room{.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&room, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      broken_ = true;
    }
  }
}

} // namespace ptlens::server
