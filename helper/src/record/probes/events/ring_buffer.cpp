// Layout of records: include/uapi/linux/perf_event.h.
#include "record/probes/events/ring_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ptlens::record {
namespace {

std::size_t page_size() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

void RingBuffer::Unmap::operator()(std::byte* memory) const {
  ::munmap(memory, size);
}

Result<RingBuffer> RingBuffer::map(int event, std::size_t pages) {
  const std::size_t size = (pages + 1) * page_size();
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  if (memory == MAP_FAILED) { // NOLINT
    return std::unexpected(
        Error{.message = fmt::format("the buffer for probe hits cannot be mapped: {}",
                                     std::strerror(errno)),
              .remedy = "run the same command with sudo"});
  }
  return RingBuffer(static_cast<std::byte*>(memory), size);
}

void RingBuffer::drain(const Visit& visit) {
  auto* const page = reinterpret_cast<perf_event_mmap_page*>(memory_.get()); // NOLINT
  const std::span<const std::byte> data(memory_.get() + page_size(),
                                        memory_.get_deleter().size - page_size());
  std::atomic_ref<__u64> head_of(page->data_head);
  std::atomic_ref<__u64> tail_of(page->data_tail);
  const std::uint64_t head = head_of.load(std::memory_order_acquire);
  std::uint64_t tail = tail_of.load(std::memory_order_relaxed);
  while (tail < head) {
    perf_event_header header{};
    std::memcpy(&header, &data[tail % data.size()], sizeof header); // 8 bytes, never split
    if (header.size < sizeof header || header.size > head - tail) {
      break;
    }
    const std::size_t at = tail % data.size();
    if (at + header.size <= data.size()) {
      visit(data.subspan(at, header.size));
    } else {
      copy_.resize(header.size);
      const std::size_t first = data.size() - at;
      std::memcpy(copy_.data(), &data[at], first);
      std::memcpy(copy_.data() + first, data.data(), header.size - first);
      visit(copy_);
    }
    tail += header.size;
  }
  tail_of.store(head, std::memory_order_release);
}

} // namespace ptlens::record
