// All calls of a recording, opened: a file that is mapped, or memory. Edges, blocks and what is
// kept of large edges are checked when they are first read; a damaged one counts as empty, and
// damaged() then says so: whoever asked makes the store anew and asks again. May be used from
// several threads at once.
#pragma once

#include "base/error.hpp"
#include "cache/block.hpp"
#include "cache/description.hpp"
#include "cache/format.hpp"
#include "perfdata/bytes/mapped_file.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::cache {

class CallCache {
public:
  // Errors: those of MappedFile::open; unsupported for another version of the format; bad_input
  // where header or directory are damaged.
  [[nodiscard]] static Result<std::shared_ptr<CallCache>> open(const std::string& path);
  [[nodiscard]] static Result<std::shared_ptr<CallCache>> open(std::vector<std::byte> bytes);
  // The bytes must outlive the store.
  [[nodiscard]] static Result<std::shared_ptr<CallCache>> view(std::span<const std::byte> bytes);

  CallCache(const CallCache&) = delete;
  CallCache& operator=(const CallCache&) = delete;
  CallCache(CallCache&&) = delete;
  CallCache& operator=(CallCache&&) = delete;
  ~CallCache() = default;

  [[nodiscard]] std::string_view key() const { return key_; }
  // What the calls refer to, and what else was kept; the first who asks takes it.
  [[nodiscard]] Description take_description() { return std::move(description_); }

  [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }
  // The edge of that index; where its entry is damaged, one without a caller.
  [[nodiscard]] const Edge& edge(std::size_t index) const {
    static constexpr Edge none{.function = 0};
    return is_whole(index) ? edges_[index].edge : none;
  }
  // Of the edge of that index.
  [[nodiscard]] std::span<const BlockEntry> blocks(std::size_t edge) const {
    return is_whole(edge) ? blocks_.subspan(edges_[edge].first_block, edges_[edge].blocks)
                          : std::span<const BlockEntry>{};
  }
  [[nodiscard]] std::size_t function_count() const { return functions_.size(); }
  [[nodiscard]] const FunctionSums& sums(std::size_t function) const {
    return functions_[function].sums;
  }
  // Edges to the function, as the index of the first and one past the last.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> edges_to(std::uint32_t function) const;
  // Indices of the edges whose caller is that function, ascending.
  [[nodiscard]] std::span<const std::uint32_t> edges_from(std::uint32_t function) const;

  // What is kept of the edge of that index; null where nothing is.
  [[nodiscard]] const LargeEdge* large_edge(std::size_t edge) const;

  // Nothing where it is damaged, or the work is cancelled. The entry must be one of an edge's.
  [[nodiscard]] std::optional<Block> block(const BlockEntry& entry) const;
  // Asks the memory for what block() of the entry will lead to.
  void prefetch(const BlockEntry& entry) const {
    constexpr std::size_t cache_line = 64;
    for (std::size_t at = 0; at < entry.bytes; at += cache_line) {
      __builtin_prefetch(bytes_.data() + entry.offset + at);
    }
  }
  // None is asked for again soon: their pages need not stay in this process.
  void forget_blocks() const {
    if (file_) {
      file_->forget(bytes_.first(blocks_end_));
    }
  }
  void note_damage() const { damaged_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool damaged() const { return damaged_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  // By thread.
  [[nodiscard]] std::span<const std::uint32_t> calls_by_thread() const { return thread_calls_; }
  // ns; UINT64_MAX where there are no calls.
  [[nodiscard]] std::uint64_t first_start() const { return first_start_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::size_t thread_count() const { return thread_calls_.size(); }
  [[nodiscard]] bool in_memory() const { return !file_.has_value(); }

private:
  CallCache() = default;
  [[nodiscard]] static std::shared_ptr<CallCache> make();
  [[nodiscard]] Result<void> read();
  [[nodiscard]] Result<void> read_directory(std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] bool read_entries(const DirectoryHeader& counts, std::uint64_t end);
  [[nodiscard]] bool counts_agree();
  // [first, last) of what belongs to the function, of so many in all; nothing of an unknown one.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t>
  range_of(std::uint32_t function, std::uint32_t FunctionEntry::* first, std::size_t all) const;
  // What was found out about a part that is checked once.
  enum Checked : std::uint8_t { unknown, whole, broken };
  using CheckedParts = std::unique_ptr<std::atomic<std::uint8_t>[]>;
  template <class Check>
  [[nodiscard]] bool is_whole(const CheckedParts& parts, std::size_t index,
                              const Check& check) const {
    std::uint8_t known = parts[index].load(std::memory_order_relaxed);
    if (known == unknown) [[unlikely]] {
      known = check() ? whole : broken;
      parts[index].store(known, std::memory_order_relaxed);
      if (known == broken) {
        note_damage();
      }
    }
    return known == whole;
  }
  [[nodiscard]] bool is_whole(std::size_t edge) const {
    return is_whole(edges_checked_, edge, [&] { return agrees(edge); });
  }
  [[nodiscard]] bool agrees(std::size_t edge) const;

  std::optional<perfdata::MappedFile> file_;
  std::vector<std::byte> memory_;
  std::span<const std::byte> bytes_;
  std::string_view key_;
  std::span<const EdgeEntry> edges_;
  std::span<const BlockEntry> blocks_;
  std::span<const std::uint32_t> called_; // edges by caller
  std::span<const FunctionEntry> functions_;
  std::span<const std::uint32_t> thread_calls_;
  std::span<const LargeEdge> large_edges_;
  Description description_;
  std::size_t sites_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t first_start_ = 0;
  std::uint64_t blocks_end_ = 0; // offset
  CheckedParts edges_checked_;
  CheckedParts blocks_checked_;
  CheckedParts called_checked_; // by function
  CheckedParts large_checked_;  // one
  std::uint64_t large_checksum_ = 0;
  mutable std::atomic<bool> damaged_ = false;
};

} // namespace ptlens::cache
