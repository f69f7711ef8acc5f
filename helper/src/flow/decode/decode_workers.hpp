// Threads that decode stretches of trace ahead of the one that needs them. Each has a context of
// its own, so that nothing that they build while decoding is shared.
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
  class Task { // done once
    friend class DecodeWorkers;
    Work work_;
    bool done_ = false;
  };
  using Handle = std::shared_ptr<Task>;

  // `make_context` makes the context of the numbering given; `count` threads.
  DecodeWorkers(const std::function<std::unique_ptr<DecodeContext>(std::uint32_t)>& make_context,
                unsigned count);
  DecodeWorkers(const DecodeWorkers&) = delete;
  DecodeWorkers& operator=(const DecodeWorkers&) = delete;
  DecodeWorkers(DecodeWorkers&&) = delete;
  DecodeWorkers& operator=(DecodeWorkers&&) = delete;
  // Waits for what is being done; what is not begun is dropped.
  ~DecodeWorkers();

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(threads_.size()); }

  [[nodiscard]] Handle submit(Work work);
  // Returns once it is done; the caller's thread does it, or others that wait, in its own context.
  void finish(const Handle& task, DecodeContext& context);
  // It is no longer needed: not begun, or ended.
  void drop(const Handle& task);

private:
  void serve(DecodeContext& context);

  std::mutex mutex_; // guards what follows, and what is done
  std::condition_variable more_;
  std::condition_variable done_;
  std::deque<Handle> waiting_;
  bool stopped_ = false;
  std::vector<std::unique_ptr<DecodeContext>> contexts_; // of the threads
  std::vector<std::thread> threads_;
};

} // namespace ptlens::flow
