// A thread that runs functions in the order in which they are submitted, while the submitter
// continues. The number of waiting functions is limited. At the limit, submit() waits until half of
// them are done, because sleeping and waking for every function costs more than many of the
// functions.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ptlens {

class OrderedWorker {
public:
  using Work = std::move_only_function<void()>;

  // At most `most_waiting` functions wait, and at least one may.
  explicit OrderedWorker(std::size_t most_waiting);
  OrderedWorker(const OrderedWorker&) = delete;
  OrderedWorker& operator=(const OrderedWorker&) = delete;
  OrderedWorker(OrderedWorker&&) = delete;
  OrderedWorker& operator=(OrderedWorker&&) = delete;
  ~OrderedWorker(); // drops the functions that wait

  enum class Begin : std::uint8_t {
    now,
    later, // may wait until the queue is half full or a function is submitted with `now`
  };
  void submit(Work work, Begin begin = Begin::now);
  // Returns when all submitted functions are done.
  void finish();

private:
  void serve();

  std::size_t most_waiting_;
  std::mutex mutex_; // guards the members below, except the thread
  std::condition_variable submitted_;
  std::condition_variable done_;
  std::deque<Work> waiting_;
  bool awake_ = false; // or about to wake
  bool busy_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

} // namespace ptlens
