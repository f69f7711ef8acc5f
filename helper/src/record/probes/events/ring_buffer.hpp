// The ring buffer of perf events, mapped (perf_event_open(2)).
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ptlens::record {

class RingBuffer {
public:
  // Maps the buffer of the event. `pages`: of data, a power of two. Errors: failed with errno.
  static Result<RingBuffer> map(int event, std::size_t pages);

  using Visit = std::function<void(std::span<const std::byte> record)>;
  // Calls `visit` with each new record, its header included, in the order in which they were
  // written, and frees their space.
  void drain(const Visit& visit);

private:
  struct Unmap {
    std::size_t size = 0;
    void operator()(std::byte* memory) const;
  };

  RingBuffer(std::byte* memory, std::size_t size) : memory_(memory, Unmap{size}) {}

  std::unique_ptr<std::byte, Unmap> memory_;
  std::vector<std::byte> copy_; // of a record
};

} // namespace ptlens::record
