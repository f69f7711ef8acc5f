// Writes a cache while calls are closed, in bounded memory. Calls wait by edge and thread until a
// block is full. Where waiting calls exceed the bound, the fullest blocks are written first.
#pragma once

#include "base/ordered_worker.hpp"
#include "cache/format/block.hpp"
#include "cache/format/format.hpp"
#include "cache/reading/call_cache.hpp"
#include "cache/writing/block_target.hpp"
#include "cache/writing/output.hpp"
#include "stacks/calls/closed_call.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ptlens::cache {

class ThreadWriter;

class Writer : private BlockTarget {
public:
  struct Options {
    std::string path = {};                              // of the cache; empty: in memory
    std::size_t memory_bytes = std::size_t{192} << 20U; // of calls that wait for their block
    // Small enough that waiting rows stay in the processor's cache, large enough that the entries
    // of blocks take little space. At most 32,767; blocks can have twice as many.
    std::uint32_t block_calls = 512;
    // The figures of edges with at least so many calls are stored: 288 bytes each.
    std::uint32_t large_edge_calls = 2048;
    std::size_t encoders = 0; // threads that encode blocks; 0: the callers of the sinks do
  };
  // Returns how many encoders keep up with so many threads that decode. Encoding takes about as
  // long as decoding; more than eight encoders would wait for the thread that puts the calls in
  // order.
  [[nodiscard]] static std::size_t encoders_for(std::size_t workers);

  explicit Writer(Options options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Writer(Writer&&) = delete;
  Writer& operator=(Writer&&) = delete;
  ~Writer() override;

  // Returns the sink for the calls of the thread with that index, which lives until finish(). Each
  // sink may be used from another thread.
  [[nodiscard]] stacks::CallSink& thread(std::uint32_t index);

  // Writes the rest, renames the file, and opens it. Where that fails the cache is in memory, and
  // trouble() returns why. Errors: bad_input where a call refers to a function, site or thread that
  // is not in the description.
  [[nodiscard]] Result<std::shared_ptr<CallCache>> finish(const std::string& key,
                                                          const Description& description);
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
  struct Block {
    BlockEntry entry;
    ThreadEdge edge{};
  };
  struct Late { // a function whose calls may be nested in calls that were found late
    std::uint32_t thread = 0;
    stacks::FunctionId function{};
    auto operator<=>(const Late&) const = default;
  };

  [[nodiscard]] std::vector<OrderedWorker*> encoders_of_next();
  [[nodiscard]] ThreadEdge add_edge(const Edge& edge) override;
  void add_blocks(std::span<const MadeBlock> blocks, std::span<const std::byte> bytes) override;
  void add_late(std::uint32_t thread, stacks::FunctionId function) override;
  [[nodiscard]] std::size_t memory_per_thread() const override;
  [[nodiscard]] std::vector<std::vector<std::size_t>> blocks_of_late() const;
  void mark_inner(const Late& late, std::span<const std::size_t> blocks);
  struct Entries {
    std::vector<EdgeEntry> edges;
    std::vector<BlockEntry> blocks;
  };
  [[nodiscard]] bool is_described(const Description& description) const;
  [[nodiscard]] Entries take_entries();
  void write_header(FileHeader& header);
  void append_large_edges(FileHeader& header);
  void append_lists(const std::string& key, const Description& description, FileHeader& header);

  Options options_;
  std::string trouble_;
  std::mutex mutex_; // guards the following members
  Output output_;
  IdVector<ThreadEdge, Edge> edges_;
  std::deque<Block> blocks_; // grows without a copy of all
  IdVector<stacks::FunctionId, FunctionSums> sums_;
  std::vector<Late> late_;
  std::deque<std::unique_ptr<ThreadWriter>> threads_;
  std::map<std::uint32_t, StartIndexBuilder> starts_; // by thread, once its calls are written
  std::atomic<std::size_t> thread_count_ = 0;
  std::size_t next_encoder_ = 0;
  std::vector<std::unique_ptr<OrderedWorker>> encoders_; // are destroyed first
};

} // namespace ptlens::cache
