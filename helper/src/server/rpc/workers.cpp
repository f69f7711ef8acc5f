// Threads that answer requests.
#include "server/rpc/workers.hpp"

#include <utility>

namespace ptlens::server {

bool Workers::run(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (finishing_ || queue_.size() >= waiting_) {
    return false;
  }
  queue_.push_back(std::move(task));
  if (queue_.size() > idle_ && pool_.size() < threads_) {
    pool_.emplace_back([this] { work(); });
  }
  changed_.notify_one();
  return true;
}

void Workers::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  pool_.clear(); // joins; no thread is added once finishing_ is set
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return finishing_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) {
      return;
    }
    const std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

} // namespace ptlens::server
