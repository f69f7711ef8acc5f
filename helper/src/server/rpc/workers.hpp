// Threads that do requests, so that the reader of messages is always free: made when needed, up to
// a limit; what comes beyond it waits its turn.
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
  // At most `threads` at work and `waiting` in the queue.
  Workers(std::size_t threads, std::size_t waiting) : threads_(threads), waiting_(waiting) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  Workers(Workers&&) = delete;
  Workers& operator=(Workers&&) = delete;
  ~Workers() { finish(); }

  // False when the queue is full. Tasks do not throw.
  [[nodiscard]] bool run(std::function<void()> task);

  // Returns when all that was accepted is done; nothing is accepted from then on.
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
