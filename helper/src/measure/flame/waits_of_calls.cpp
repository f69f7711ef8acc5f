#include "measure/flame/waits_of_calls.hpp"

#include <algorithm>

namespace ptlens::measure {

void WaitsOfCalls::begin_thread(std::int32_t tid) {
  rest_ = waits_ == nullptr ? std::span<const waits::Wait>{} : waits_->of_thread(tid);
  open_.clear();
  found_.clear();
}

void WaitsOfCalls::open(std::uint64_t start, std::uint64_t end, std::uint32_t number,
                        stacks::FunctionId function) {
  if (waits_ == nullptr) {
    return;
  }
  settle(start);
  close(start);
  open_.push_back({.end = end, .number = number, .function = function});
}

std::vector<WaitsOfCalls::Times> WaitsOfCalls::finish(std::size_t numbers) {
  settle(UINT64_MAX);
  std::vector<Times> times(found_.empty() ? 0 : numbers, Times{});
  for (const Found& found : found_) {
    if (found.number < times.size()) {
      times[found.number][found.cause] += found.time;
    }
  }
  return times;
}

void WaitsOfCalls::settle(std::uint64_t before) {
  while (!rest_.empty() && rest_.front().begin < before) {
    const waits::Wait& wait = rest_.front();
    close(wait.begin);
    if (!open_.empty()) {
      const Open& innermost = open_.back();
      found_.push_back({.number = innermost.number,
                        .cause = cause_of(*waits_, wait, functions_[innermost.function].name),
                        .time = std::min(wait.end, innermost.end) - wait.begin});
    }
    rest_ = rest_.subspan(1);
  }
}

void WaitsOfCalls::close(std::uint64_t at) {
  while (!open_.empty() && open_.back().end <= at) {
    open_.pop_back();
  }
}

} // namespace ptlens::measure
