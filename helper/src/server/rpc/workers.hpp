// Threads that answer requests, so that the reader of messages is always free. They start when
// needed, up to a limit; further requests wait in a queue.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ptlens::server {

class Workers {
public:
  // Allows `threads` threads and `waiting` tasks in the queue.
  Workers(std::size_t threads, std::size_t waiting) : threads_(threads), waiting_(waiting) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  Workers(Workers&&) = delete;
  Workers& operator=(Workers&&) = delete;
  ~Workers() { finish(); }

  // Adds a task, which must not throw. Returns false when the queue is full.
  [[nodiscard]] bool run(std::function<void()> task);

  // Waits until all accepted tasks have ended, and accepts no more.
  void finish();

private:
  void work();

  const std::size_t threads_;
  const std::size_t waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::jthread> pool_;
  std::size_t idle_ = 0;
  bool finishing_ = false;
};

} // namespace ptlens::server
