// The way to the client: whole messages, from any thread.
#pragma once

#include "export/json.hpp"

#include <mutex>

namespace ptlens::server {

class Output {
public:
  explicit Output(int fd) : fd_(fd) {}

  // Blocks until the client has room. What cannot be written, because the client is gone, is
  // dropped.
  void send(const exporting::Json& message);

private:
  int fd_;
  std::mutex mutex_;
  bool broken_ = false;
};

} // namespace ptlens::server
