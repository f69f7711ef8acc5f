// Threads that decode stretches of trace ahead of the thread that needs them. Each worker has a
// context of its own, so that workers share nothing that they build while they decode.
#pragma once

#include "flow/decode/decode_context.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ptlens::flow {

class DecodeWorkers {
public:
  using Work = std::function<void(DecodeContext&)>;
  class Task { // runs once
    friend class DecodeWorkers;
    Work work_;
    bool done_ = false;
  };
  using Handle = std::shared_ptr<Task>;

  // Starts `count` threads. `make_context` makes a context with the given numbering.
  DecodeWorkers(const std::function<std::unique_ptr<DecodeContext>(std::uint32_t)>& make_context,
                unsigned count);
  DecodeWorkers(const DecodeWorkers&) = delete;
  DecodeWorkers& operator=(const DecodeWorkers&) = delete;
  DecodeWorkers(DecodeWorkers&&) = delete;
  DecodeWorkers& operator=(DecodeWorkers&&) = delete;
  // Waits for the tasks that are running and drops the tasks that have not begun.
  ~DecodeWorkers();

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(threads_.size()); }

  [[nodiscard]] Handle submit(Work work);
  // Returns once the task is done. Meanwhile the caller's thread runs this task, or others that
  // wait, in its own context.
  void finish(const Handle& task, DecodeContext& context);
  // Drops a task that is no longer needed, or waits for its end where it has begun.
  void drop(const Handle& task);

private:
  void serve(DecodeContext& context);

  std::mutex mutex_; // guards the following members, and Task::done_
  std::condition_variable more_;
  std::condition_variable done_;
  std::deque<Handle> waiting_;
  bool stopped_ = false;
  std::vector<std::unique_ptr<DecodeContext>> contexts_; // of the threads
  std::vector<std::thread> threads_;
};

} // namespace ptlens::flow
