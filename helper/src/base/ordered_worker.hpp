// A thread that does what it is given in the order in which it is given, while the giver goes on.
// So much may wait; then the giver does.
#pragma once

#include <condition_variable>
#include <cstddef>
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

  void submit(Work work);
  // Returns when all that was submitted is done.
  void finish();

private:
  void serve();

  std::size_t most_waiting_;
  std::mutex mutex_; // guards what follows, but for the thread
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool busy_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

} // namespace ptlens
