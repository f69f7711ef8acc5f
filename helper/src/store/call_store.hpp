// All calls of a recording, opened: a file that is mapped, or memory. What a block holds is checked
// when it is first read; a damaged one counts as empty, and damaged() then says so: whoever asked
// makes the store anew and asks again. May be used from several threads at once.
#pragma once

#include "base/error.hpp"
#include "perfdata/mapped_file.hpp"
#include "store/block.hpp"
#include "store/description.hpp"
#include "store/format.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::store {

class CallStore {
public:
  // Errors: those of MappedFile::open; unsupported for another version of the format; bad_input
  // where header or directory are damaged.
  [[nodiscard]] static Result<std::shared_ptr<CallStore>> open(const std::string& path);
  [[nodiscard]] static Result<std::shared_ptr<CallStore>> open(std::vector<std::byte> bytes);

  CallStore(const CallStore&) = delete;
  CallStore& operator=(const CallStore&) = delete;
  CallStore(CallStore&&) = delete;
  CallStore& operator=(CallStore&&) = delete;
  ~CallStore() = default;

  [[nodiscard]] std::string_view key() const { return key_; }
  // What the calls refer to, and what else was kept; the first who asks takes it.
  [[nodiscard]] Description take_description() { return std::move(description_); }

  [[nodiscard]] std::span<const EdgeEntry> edges() const { return edges_; }
  [[nodiscard]] std::span<const BlockEntry> blocks() const { return blocks_; }
  // Of the edge of that index.
  [[nodiscard]] std::span<const BlockEntry> blocks(std::size_t edge) const {
    return blocks_.subspan(first_block_[edge], edges_[edge].blocks);
  }
  // True when some call of the edge began while another one of its function ran on its thread.
  [[nodiscard]] bool has_inner(std::size_t edge) const {
    return std::ranges::any_of(blocks(edge),
                               [](const BlockEntry& entry) { return entry.inner != 0; });
  }
  // By function.
  [[nodiscard]] std::span<const FunctionSums> sums() const { return sums_; }
  // Edges to the function, as the index of the first and one past the last.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> edges_to(std::uint32_t function) const;
  // Indices of the edges whose caller is that function, ascending.
  [[nodiscard]] std::span<const std::uint32_t> edges_from(std::uint32_t function) const;

  // Nothing where it is damaged, or the work is cancelled. The entry must be one of blocks().
  [[nodiscard]] std::optional<Block> block(const BlockEntry& entry) const;
  void note_damage() const { damaged_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool damaged() const { return damaged_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::size_t thread_count() const { return threads_; }
  [[nodiscard]] bool in_memory() const { return !file_.has_value(); }

private:
  CallStore() = default;
  [[nodiscard]] Result<void> read();
  [[nodiscard]] Result<void> read_directory(std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] bool entries_agree(std::uint64_t blocks_end);
  void index_callers();

  std::optional<perfdata::MappedFile> file_;
  std::vector<std::byte> memory_;
  std::span<const std::byte> bytes_;
  std::string_view key_;
  std::span<const EdgeEntry> edges_;
  std::span<const BlockEntry> blocks_;
  std::span<const FunctionSums> sums_;
  Description description_;
  std::size_t threads_ = 0;
  std::size_t sites_ = 0;
  std::uint64_t calls_ = 0;
  std::vector<std::uint64_t> first_block_;               // of each edge
  std::vector<std::uint32_t> first_edge_;                // to each function
  std::vector<std::uint32_t> first_caller_;              // in by_caller_, of each function
  std::vector<std::uint32_t> by_caller_;                 // edges
  std::unique_ptr<std::atomic<std::uint8_t>[]> checked_; // 1: the block's checksum was right
  mutable std::atomic<bool> damaged_ = false;
};

} // namespace ptlens::store
