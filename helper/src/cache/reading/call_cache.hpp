// All calls of a recording: a mapped file, or memory. Edges, blocks and the figures of large edges
// are checked when they are first read. A damaged one counts as empty, and damaged() is true from
// then on: the caller then removes the cache, decodes the recording again and repeats the question.
// Several threads may use it at once.
#pragma once

#include "base/error.hpp"
#include "cache/format/block.hpp"
#include "cache/format/description.hpp"
#include "cache/format/format.hpp"
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
  // The bytes must outlive the result.
  [[nodiscard]] static Result<std::shared_ptr<CallCache>> view(std::span<const std::byte> bytes);

  CallCache(const CallCache&) = delete;
  CallCache& operator=(const CallCache&) = delete;
  CallCache(CallCache&&) = delete;
  CallCache& operator=(CallCache&&) = delete;
  ~CallCache() = default;

  [[nodiscard]] std::string_view key() const { return key_; }
  // Returns the description of the calls. Only the first call returns it.
  [[nodiscard]] Description take_description() { return std::move(description_); }

  [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }
  [[nodiscard]] IdRange<EdgeId> edges() const { return first_ids<EdgeId>(edges_.size()); }
  // Returns the edge; where its entry is damaged, an edge without a caller.
  [[nodiscard]] const Edge& edge(EdgeId id) const {
    static constexpr Edge none{.function = stacks::FunctionId{}};
    return is_whole(id) ? edges_[index_of(id)].edge : none;
  }
  // Returns the blocks of the edge.
  [[nodiscard]] std::span<const BlockEntry> blocks(EdgeId edge) const {
    const EdgeEntry& entry = edges_[index_of(edge)];
    return is_whole(edge) ? blocks_.subspan(entry.first_block, entry.blocks)
                          : std::span<const BlockEntry>{};
  }
  [[nodiscard]] std::size_t function_count() const { return functions_.size(); }
  [[nodiscard]] const FunctionSums& sums(stacks::FunctionId function) const {
    return functions_[index_of(function)].sums;
  }
  // Returns the edges to the function.
  [[nodiscard]] IdRange<EdgeId> edges_to(stacks::FunctionId function) const;
  // Returns the edges whose caller is that function, ascending.
  [[nodiscard]] std::span<const EdgeId> edges_from(stacks::FunctionId function) const;

  // Returns the stored figures of the edge; null where there are none.
  [[nodiscard]] const LargeEdge* large_edge(EdgeId edge) const;

  // Returns nothing where the block is damaged, or the work is cancelled. The entry must be one of
  // blocks().
  [[nodiscard]] std::optional<Block> block(const BlockEntry& entry) const;
  // Prefetches the block.
  void prefetch(const BlockEntry& entry) const {
    constexpr std::size_t cache_line = 64;
    for (std::size_t at = 0; at < entry.bytes; at += cache_line) {
      __builtin_prefetch(bytes_.data() + entry.offset + at);
    }
  }
  // Returns the pages of all blocks to the system, as they are not read again soon.
  void forget_blocks() const {
    if (file_) {
      file_->forget(bytes_.first(blocks_end_));
    }
  }
  void note_damage() const { damaged_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool damaged() const { return damaged_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  // Returns the number of calls by thread.
  [[nodiscard]] std::span<const std::uint32_t> calls_by_thread() const { return thread_calls_; }
  // Returns the least start in ns; UINT64_MAX where there are no calls.
  [[nodiscard]] std::uint64_t first_start() const { return first_start_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::size_t thread_count() const { return thread_calls_.size(); }
  [[nodiscard]] bool in_memory() const { return !file_.has_value(); }

private:
  CallCache() = default;
  [[nodiscard]] static std::shared_ptr<CallCache> make();
  [[nodiscard]] Result<void> read();
  [[nodiscard]] Result<void> read_directory(std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] bool read_starts(const DirectoryHeader& counts);
  [[nodiscard]] bool read_entries(const DirectoryHeader& counts, std::uint64_t end);
  [[nodiscard]] bool counts_agree();
  // Returns [first, last) of the function's entries, of `all` entries; empty for an unknown
  // function.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t>
  range_of(stacks::FunctionId function, std::uint32_t FunctionEntry::* first,
           std::size_t all) const;
  // The result of checking an entry, which happens once.
  enum Checked : std::uint8_t { unknown, whole, broken };
  using CheckResults = std::unique_ptr<std::atomic<std::uint8_t>[]>;
  template <class Check>
  [[nodiscard]] bool is_whole(const CheckResults& results, std::size_t index,
                              const Check& check) const {
    std::uint8_t known = results[index].load(std::memory_order_relaxed);
    if (known == unknown) [[unlikely]] {
      known = check() ? whole : broken;
      results[index].store(known, std::memory_order_relaxed);
      if (known == broken) {
        note_damage();
      }
    }
    return known == whole;
  }
  [[nodiscard]] bool is_whole(EdgeId edge) const {
    return is_whole(edges_checked_, index_of(edge), [&] { return agrees(edge); });
  }
  [[nodiscard]] bool agrees(EdgeId edge) const;

  std::optional<perfdata::MappedFile> file_;
  std::vector<std::byte> memory_;
  std::span<const std::byte> bytes_;
  std::string_view key_;
  std::span<const EdgeEntry> edges_;
  std::span<const BlockEntry> blocks_;
  std::span<const EdgeId> called_; // by caller
  std::span<const FunctionEntry> functions_;
  std::vector<std::uint32_t> thread_calls_;
  std::span<const ThreadEntry> threads_;
  std::vector<std::span<const StartGroup>> starts_; // by thread
  std::span<const LargeEdge> large_edges_;
  Description description_;
  std::size_t sites_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t first_start_ = 0;
  std::uint64_t blocks_end_ = 0; // offset
  CheckResults edges_checked_;
  CheckResults blocks_checked_;
  CheckResults called_checked_; // by function
  CheckResults starts_checked_; // by thread
  CheckResults large_checked_;  // one element
  std::uint64_t large_checksum_ = 0;
  mutable std::atomic<bool> damaged_ = false;
};

} // namespace ptlens::cache
