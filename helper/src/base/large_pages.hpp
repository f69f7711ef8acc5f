// An allocator for large tables with scattered reads. It uses the largest pages that the system has
// (madvise(2), MADV_HUGEPAGE): the processor then needs no walk through its page tables, which
// takes twice as long in a virtual machine. Small tables are allocated as usual.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <sys/mman.h>

namespace ptlens {

template <class T>
class LargePages {
public:
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>& /*other*/) {} // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > (std::numeric_limits<std::size_t>::max() - page) / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    const std::size_t bytes = bytes_of(count);
    void* const memory = ::operator new(bytes, alignment_of(bytes));
    if (bytes >= page) {
      ::madvise(memory, bytes, MADV_HUGEPAGE); // the pages stay small where there are no large ones
    }
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, alignment_of(bytes_of(count)));
  }

  friend bool operator==(const LargePages& /*one*/, const LargePages& /*other*/) { return true; }

private:
  static constexpr std::size_t page = std::size_t{2} << 20U;

  // Returns the size in whole large pages where the elements need more than half a page.
  [[nodiscard]] static std::size_t bytes_of(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    return bytes > page / 2 ? (bytes + page - 1) / page * page : bytes;
  }
  [[nodiscard]] static std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{bytes >= page ? page : alignof(T)};
  }
};

} // namespace ptlens
