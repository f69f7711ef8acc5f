// A queue of tasks, run in order.
#include "flow/segments/decode_workers.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::flow {

DecodeWorkers::DecodeWorkers(
    const std::function<std::unique_ptr<DecodeContext>(std::uint32_t)>& make_context,
    unsigned count) {
  for (unsigned number = 1; number <= count; ++number) {
    contexts_.push_back(make_context(number));
  }
  for (const auto& context : contexts_) {
    threads_.emplace_back([this, &context = *context] { serve(context); });
  }
}

DecodeWorkers::~DecodeWorkers() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting_.clear();
  }
  more_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

DecodeWorkers::Handle DecodeWorkers::submit(Work work) {
  auto task = std::make_shared<Task>();
  task->work_ = std::move(work);
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(task);
  }
  more_.notify_one();
  return task;
}

void DecodeWorkers::serve(DecodeContext& context) {
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) {
      return;
    }
    const Handle task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task->work_(context);
    lock.lock();
    task->done_ = true;
    done_.notify_all();
  }
}

void DecodeWorkers::finish(const Handle& task, DecodeContext& context) {
  std::unique_lock lock(mutex_);
  while (!task->done_) {
    auto next = std::ranges::find(waiting_, task);
    if (next == waiting_.end()) {
      next = waiting_.begin();
    }
    if (next == waiting_.end()) {
      done_.wait(lock);
      continue;
    }
    const Handle mine = std::move(*next);
    waiting_.erase(next);
    lock.unlock();
    mine->work_(context);
    lock.lock();
    mine->done_ = true;
    done_.notify_all();
  }
}

void DecodeWorkers::drop(const Handle& task) {
  std::unique_lock lock(mutex_);
  if (std::erase(waiting_, task) == 0) {
    done_.wait(lock, [&] { return task->done_; });
  }
}

} // namespace ptlens::flow
