// A bounded queue with one server.
#include "base/ordered_worker.hpp"

#include <algorithm>
#include <utility>

namespace ptlens {

OrderedWorker::OrderedWorker(std::size_t most_waiting)
    : most_waiting_(std::max<std::size_t>(1, most_waiting)), thread_([this] { serve(); }) {}

OrderedWorker::~OrderedWorker() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void OrderedWorker::submit(Work work) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < most_waiting_; });
  waiting_.push_back(std::move(work));
  lock.unlock();
  changed_.notify_all();
}

void OrderedWorker::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

void OrderedWorker::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) {
      return;
    }
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    changed_.notify_all();
    work();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

} // namespace ptlens
