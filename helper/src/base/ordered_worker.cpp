// A bounded queue with one consumer.
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
  submitted_.notify_all();
  thread_.join();
}

void OrderedWorker::submit(Work work, Begin begin) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return waiting_.size() < most_waiting_; });
  waiting_.push_back(std::move(work));
  if (begin == Begin::later && 2 * waiting_.size() < most_waiting_) {
    return;
  }
  const bool asleep = !std::exchange(awake_, true);
  lock.unlock();
  if (asleep) {
    submitted_.notify_one();
  }
}

void OrderedWorker::finish() {
  std::unique_lock lock(mutex_);
  if (!waiting_.empty()) {
    awake_ = true;
    submitted_.notify_one();
  }
  done_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

void OrderedWorker::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    submitted_.wait(lock, [this] { return stopped_ || (awake_ && !waiting_.empty()); });
    while (!stopped_ && !waiting_.empty()) {
      Work work = std::move(waiting_.front());
      waiting_.pop_front();
      busy_ = true;
      const bool half_done = waiting_.size() == most_waiting_ / 2;
      lock.unlock();
      if (half_done) {
        done_.notify_all();
      }
      work();
      lock.lock();
      busy_ = false;
    }
    if (stopped_) {
      return;
    }
    awake_ = false;
    done_.notify_all();
  }
}

} // namespace ptlens
