// Writes a store while calls are handed over, in bounded memory: calls wait by edge and thread
// until a block is full; where those that wait take more than the bound, the fullest go first.
#pragma once

#include "base/ordered_worker.hpp"
#include "cache/block.hpp"
#include "cache/call_cache.hpp"
#include "cache/format.hpp"
#include "cache/output.hpp"
#include "stacks/calls/closed_call.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tsl/robin_map.h>
#include <vector>

namespace ptlens::cache {

class ThreadWriter;

class Writer {
public:
  struct Options {
    std::string path = {};                              // of the store; empty: in memory
    std::size_t memory_bytes = std::size_t{256} << 20U; // of calls that wait for their block
    // Small enough that what waits for its block stays in the cache, large enough that the entries
    // of blocks weigh little. At most 65,535.
    std::uint32_t block_calls = 512;
    // What reports tell of edges with as many is kept: at most 224 bytes for so many calls.
    std::uint32_t large_edge_calls = 2048;
    bool own_thread = false; // calls are stored beside the one who hands them over
  };
  explicit Writer(Options options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Writer(Writer&&) = delete;
  Writer& operator=(Writer&&) = delete;
  ~Writer();

  // Takes the calls of the thread of that index; each sink may be used from a thread of its own.
  // Lives until finish().
  [[nodiscard]] stacks::CallSink& thread(std::uint32_t index);

  // All calls were taken: writes the rest, gives the file its name, and opens it. Where that cannot
  // be done the store is in memory, and trouble() says why. Errors: bad_input where a call names a
  // function, site or thread that the description does not hold.
  [[nodiscard]] Result<std::shared_ptr<CallCache>> finish(const std::string& key,
                                                          const Description& description);
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
  friend class ThreadWriter;

  struct Block {
    BlockEntry entry;
    std::uint32_t edge = 0; // in edges_
  };
  struct Late { // calls of it may be inside activations that were opened late
    std::uint32_t thread = 0;
    std::uint32_t function = 0;
    auto operator<=>(const Late&) const = default;
  };

  struct MadeBlock {
    Edge edge;
    BlockEntry entry; // without its offset
    FunctionSums sums;
  };
  // The bytes are the encoder's.
  [[nodiscard]] static MadeBlock make_block(const Edge& edge, std::uint32_t thread,
                                            std::vector<Row>& rows, std::span<const Extra> extras,
                                            BlockEncoder& encoder);
  void add_block(const MadeBlock& block, std::span<const std::byte> bytes);
  [[nodiscard]] std::vector<std::vector<std::size_t>> blocks_of_late() const;
  void mark_inner(const Late& late, std::span<const std::size_t> blocks);
  struct Entries {
    std::vector<EdgeEntry> edges;
    std::vector<BlockEntry> blocks;
  };
  [[nodiscard]] bool is_described(const Description& description) const;
  [[nodiscard]] Entries entries();
  void write_header(FileHeader& header);
  void keep_large_edges(FileHeader& header);
  void append_lists(const std::string& key, const Description& description, FileHeader& header);
  [[nodiscard]] std::size_t memory_of_a_thread() const;

  Options options_;
  std::string trouble_;
  std::mutex mutex_; // guards what follows
  Output output_;
  tsl::robin_map<Edge, std::uint32_t, EdgeHash> edge_numbers_;
  std::vector<Edge> edges_;
  std::vector<Block> blocks_;
  std::vector<FunctionSums> sums_;
  std::vector<Late> late_;
  std::deque<std::unique_ptr<ThreadWriter>> threads_;
  std::atomic<std::size_t> thread_count_ = 0;
  std::unique_ptr<OrderedWorker> storing_; // gone before what it uses
};

} // namespace ptlens::cache
