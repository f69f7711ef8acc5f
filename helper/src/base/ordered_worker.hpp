// A thread that does what it is given in the order in which it is given, while the giver goes on.
// So much may wait; then the giver does, until half of it is done: sleeping and waking for each
// piece of work costs more than many a piece.
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

  // At most `most_waiting` pieces of work wait, at least one.
  explicit OrderedWorker(std::size_t most_waiting);
  OrderedWorker(const OrderedWorker&) = delete;
  OrderedWorker& operator=(const OrderedWorker&) = delete;
  OrderedWorker(OrderedWorker&&) = delete;
  OrderedWorker& operator=(OrderedWorker&&) = delete;
  ~OrderedWorker(); // what waits is not done

  enum class Begin : std::uint8_t {
    now,
    later, // maybe only when half as much waits as may, or something is submitted to begin now
  };
  void submit(Work work, Begin begin = Begin::now);
  // Returns when all that was submitted is done.
  void finish();

private:
  void serve();

  std::size_t most_waiting_;
  std::mutex mutex_; // guards what follows, but for the thread
  std::condition_variable given_;
  std::condition_variable taken_;
  std::deque<Work> waiting_;
  bool hurried_ = false; // the thread is awake, or was woken
  bool busy_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

} // namespace ptlens
