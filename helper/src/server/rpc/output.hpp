// Sends whole messages to the client, from any thread.
#pragma once

#include "protocol/types.hpp"

#include <mutex>

namespace ptlens::server {

class Output {
public:
  explicit Output(int fd) : fd_(fd) {}

  // Sends a message and blocks until the client has read enough of it. Messages to a client that is
  // gone are dropped.
  void send(const protocol::Json& message);

private:
  int fd_;
  std::mutex mutex_;
  bool broken_ = false;
};

} // namespace ptlens::server
