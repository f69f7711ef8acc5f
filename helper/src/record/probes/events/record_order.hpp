// Puts the records of several buffers into the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ptlens::record {

class RecordOrder {
public:
  void add(std::span<const std::byte> record, std::uint64_t time_ns);

  // Hands on the records that are not later than the previous call's latest one, in order: by now
  // every buffer has given its records up to there.
  void hand_on(const std::function<void(std::span<const std::byte>)>& take);
  // Hands on the rest.
  void hand_on_all(const std::function<void(std::span<const std::byte>)>& take);

private:
  struct Entry {
    std::uint64_t time_ns = 0;
    std::size_t offset = 0;
    std::size_t size = 0;
  };
  void hand_on_until(std::uint64_t time_ns,
                     const std::function<void(std::span<const std::byte>)>& take);

  std::vector<Entry> entries_;
  std::vector<std::byte> bytes_;
  std::uint64_t latest_ns_ = 0;
  std::uint64_t horizon_ns_ = 0;
};

} // namespace ptlens::record
