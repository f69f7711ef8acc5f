// Writes blocks, and then the entries and the directory.
#include "cache/writing/writer.hpp"

#include "cache/format/checksum.hpp"
#include "cache/writing/edge_tally.hpp"
#include "cache/writing/thread_writer.hpp"
#include "stacks/calls/self_nesting.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <malloc.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace ptlens::cache {
namespace {

// Returns the zeros that follow so many bytes, up to a multiple of the alignment.
std::span<const std::byte> padding_after(std::size_t bytes) {
  static constexpr std::array<std::byte, alignment> zeros{};
  return std::span(zeros).first((alignment - bytes % alignment) % alignment);
}

// Passes the bytes of the objects on, and then the padding.
template <class T, class Use>
void give_padded(std::span<const T> things, const Use& use) {
  const auto bytes = std::as_bytes(things);
  use(bytes);
  use(padding_after(bytes.size()));
}

struct Placed {
  Row row;
  std::size_t block = 0;
};

// Sorts calls of one function in one thread by start and marks the nested ones. A call that starts
// exactly when the outer one ends keeps its mark. Returns the calls whose mark changed.
std::vector<const Placed*> mark_nested(std::vector<Placed>& all, std::span<const Extra> extras) {
  std::ranges::sort(all, {}, [&](const Placed& placed) {
    const Row& row = placed.row;
    const std::uint32_t before = (row.flags & extra_bit) != 0 ? extras[row.extra].before : 0;
    return std::tuple(row.start, index_of(row.order) - before, before == 0, ~index_of(row.order));
  });
  std::vector<const Placed*> changed;
  stacks::NestingSweep nesting;
  for (Placed& placed : all) {
    Row& row = placed.row;
    const bool was_inner = (row.flags & inner_bit) != 0;
    if (nesting.is_nested(row.start, row.latency, [&] { return was_inner; }) != was_inner) {
      row.flags ^= inner_bit;
      changed.push_back(&placed);
    }
  }
  return changed;
}

} // namespace

std::size_t Writer::encoders_for(std::size_t workers) {
  constexpr std::size_t most = 8;
  return workers > 1 ? std::clamp<std::size_t>(workers / 2, 1, most) : 0;
}

Writer::Writer(Options options) : options_(std::move(options)) {
  options_.block_calls = std::clamp<std::uint32_t>(options_.block_calls, 1, UINT16_MAX / 2);
  if (!options_.path.empty()) {
    remove_abandoned(options_.path);
    if (auto output = Output::create(options_.path)) {
      output_ = std::move(*output);
    } else {
      trouble_ = output.error().one_line();
    }
  }
  output_.append(std::vector<std::byte>(sizeof(FileHeader)));
  constexpr std::size_t most_waiting = 16;
  while (encoders_.size() < options_.encoders) {
    encoders_.push_back(std::make_unique<OrderedWorker>(most_waiting));
  }
}

Writer::~Writer() = default;

stacks::CallSink& Writer::thread(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  for (const auto& thread : threads_) {
    if (thread->thread() == index) {
      return *thread;
    }
  }
  threads_.push_back(std::make_unique<ThreadWriter>(
      static_cast<BlockTarget&>(*this), encoders_of_next(), index, options_.block_calls));
  ++thread_count_;
  return *threads_.back();
}

// Returns the encoders of the next thread's calls, in turn. The more threads there are, the fewer
// encoders each of them needs, and the less memory their batches take.
std::vector<OrderedWorker*> Writer::encoders_of_next() {
  std::vector<OrderedWorker*> chosen;
  const std::size_t count =
      std::min(encoders_.size(), encoders_.size() / (threads_.size() + 1) + 1);
  while (chosen.size() < count) {
    chosen.push_back(encoders_[next_encoder_++ % encoders_.size()].get());
  }
  return chosen;
}

std::size_t Writer::memory_per_thread() const {
  constexpr std::size_t least = std::size_t{1} << 18U;
  return std::max(least, options_.memory_bytes / std::max<std::size_t>(1, thread_count_));
}

ThreadEdge Writer::add_edge(const Edge& edge) {
  const std::lock_guard lock(mutex_);
  const ThreadEdge number = edges_.next_id();
  edges_.push_back(edge);
  return number;
}

void Writer::add_blocks(std::span<const MadeBlock> blocks, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  std::uint64_t offset = output_.size();
  for (const MadeBlock& block : blocks) {
    const stacks::FunctionId function = edges_[block.edge].function;
    if (!sums_.has(function)) {
      sums_.resize(std::size_t{index_of(function)} + 1);
    }
    sums_[function].add(block.sums);
    blocks_.push_back({.entry = block.entry, .edge = block.edge});
    blocks_.back().entry.offset = offset;
    offset += block.entry.bytes;
  }
  output_.append(bytes);
}

void Writer::add_late(std::uint32_t thread, stacks::FunctionId function) {
  const std::lock_guard lock(mutex_);
  late_.push_back({.thread = thread, .function = function});
}

// Returns the blocks with calls of each element of `late_`, whose elements are sorted and differ.
std::vector<std::vector<std::size_t>> Writer::blocks_of_late() const {
  std::vector<std::vector<std::size_t>> found(late_.size());
  if (late_.empty()) {
    return found;
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Late late{.thread = blocks_[i].entry.thread,
                    .function = edges_[blocks_[i].edge].function};
    const auto at = std::ranges::lower_bound(late_, late);
    if (at != late_.end() && *at == late) {
      found[static_cast<std::size_t>(at - late_.begin())].push_back(i);
    }
  }
  return found;
}

void Writer::mark_inner(const Late& late, std::span<const std::size_t> blocks) {
  std::vector<Placed> all;
  std::vector<Extra> extras;
  for (const std::size_t i : blocks) {
    const BlockEntry& entry = blocks_[i].entry;
    std::vector<std::byte> bytes = output_.read(entry.offset, entry.bytes);
    const std::size_t size = bytes.size();
    bytes.resize(size + column_padding);
    const auto block =
        cache::Block::parse(std::span(bytes).first(size), entry, starts_[late.thread].index());
    if (!block) {
      return; // the block cannot be read, which its checksum will show
    }
    std::vector<Row> rows;
    block->read_rows(entry, rows, extras);
    for (const Row& row : rows) {
      all.push_back({.row = row, .block = i});
    }
  }
  std::set<std::size_t> changed;
  for (const Placed* const placed : mark_nested(all, extras)) {
    changed.insert(placed->block);
    turn_inner(sums_[late.function], placed->row, extras);
  }
  std::map<std::size_t, std::vector<Row>> rows_of;
  for (const Placed& placed : all) {
    if (changed.contains(placed.block)) {
      rows_of[placed.block].push_back(placed.row);
    }
  }
  BlockEncoder encoder;
  for (auto& [block, rows] :
       rows_of) { // the new blocks are appended; the old ones stay in the file, unused
    BlockEntry entry = encoder.encode(rows, extras, starts_[late.thread].index());
    entry.thread = late.thread;
    entry.checksum = static_cast<std::uint32_t>(checksum(encoder.bytes()));
    entry.offset = output_.size();
    output_.append(encoder.bytes());
    blocks_[block].entry = entry;
  }
}

// Returns whether all functions, sites and threads of calls are in the description.
bool Writer::is_described(const Description& description) const {
  return sums_.size() <= description.functions.size() &&
         std::ranges::all_of(edges_,
                             [&](const Edge& edge) {
                               return (edge.caller == stacks::FunctionId::none ||
                                       description.functions.has(edge.caller)) &&
                                      (edge.site == stacks::SiteId::none ||
                                       description.sites.has(edge.site));
                             }) &&
         std::ranges::all_of(blocks_, [&](const Block& block) {
           return block.entry.thread < description.threads.size();
         });
}

// Sorts the edges, and the blocks by edge with a counting sort. Equal edges of several threads
// become one. No block remains.
Writer::Entries Writer::take_entries() {
  const auto ids = edges_.ids();
  std::vector<ThreadEdge> order(ids.begin(), ids.end());
  std::ranges::sort(order, {}, [this](ThreadEdge edge) { return edges_[edge]; });
  IdVector<ThreadEdge, std::uint32_t> place(edges_.size());
  Entries made{.edges = {}, .blocks = std::vector<BlockEntry>(blocks_.size())};
  for (const ThreadEdge edge : order) {
    if (made.edges.empty() || made.edges.back().edge != edges_[edge]) {
      made.edges.push_back({.edge = edges_[edge]});
    }
    place[edge] = static_cast<std::uint32_t>(made.edges.size() - 1);
  }
  for (const Block& block : blocks_) {
    ++made.edges[place[block.edge]].blocks;
  }
  std::uint32_t first = 0;
  std::vector<std::uint32_t> next;
  next.reserve(made.edges.size());
  for (EdgeEntry& edge : made.edges) {
    edge.first_block = first;
    next.push_back(first);
    first += edge.blocks;
  }
  for (; !blocks_.empty(); blocks_.pop_front()) {
    const Block& block = blocks_.front();
    made.blocks[next[place[block.edge]]++] = block.entry;
  }
  const auto rank = [](const BlockEntry& entry) {
    return std::tuple(entry.thread, entry.first_order, entry.offset);
  };
  for (EdgeEntry& edge : made.edges) {
    const auto own = std::span(made.blocks).subspan(edge.first_block, edge.blocks);
    if (!std::ranges::is_sorted(own, {}, rank)) {
      std::ranges::sort(own, {}, rank);
    }
    edge.checksum = checksum_of(edge, own);
  }
  return made;
}

// Appends the entries and the directory, and stores the directory's offset and size in the header.
void Writer::append_lists(const std::string& key, const Description& description,
                          FileHeader& header) {
  const Entries made = take_entries();
  DirectoryHeader counts{.starts_offset = output_.size(),
                         .entries_offset = 0, // follows
                         .edges = made.edges.size(),
                         .blocks = made.blocks.size(),
                         .first_start = UINT64_MAX,
                         .key_bytes = key.size(),
                         .functions = description.functions.size(),
                         .threads = description.threads.size()};
  std::vector<ThreadEntry> threads(counts.threads);
  for (const auto& [thread, starts] : starts_) {
    const std::vector<StartGroup> groups = starts.groups();
    const auto bytes = std::as_bytes(std::span(groups));
    if (thread < threads.size()) { // else it has no calls
      threads[thread].start_groups = static_cast<std::uint32_t>(groups.size());
      threads[thread].starts_checksum = checksum(bytes);
      output_.append(bytes);
    }
  }
  for (ThreadEntry& thread : threads) {
    if (thread.start_groups == 0) {
      thread.starts_checksum = checksum(std::span<const std::byte>());
    }
  }
  counts.entries_offset = output_.size();
  for (const BlockEntry& block : made.blocks) {
    threads[block.thread].calls += block.calls;
    counts.first_start = std::min(counts.first_start, block.first_start);
  }
  IdVector<stacks::FunctionId, std::vector<EdgeId>> called_by(counts.functions);
  IdVector<stacks::FunctionId, FunctionEntry> functions(counts.functions);
  std::uint32_t edge = 0;
  for (const stacks::FunctionId function : functions.ids()) {
    functions[function].sums = sums_.has(function) ? sums_[function] : FunctionSums{};
    functions[function].first_edge = edge;
    for (; edge < made.edges.size() && made.edges[edge].edge.function == function; ++edge) {
      if (const stacks::FunctionId caller = made.edges[edge].edge.caller;
          caller != stacks::FunctionId::none) {
        called_by[caller].push_back(EdgeId{edge});
      }
    }
  }
  std::vector<EdgeId> called;
  for (const stacks::FunctionId function : functions.ids()) {
    const std::vector<EdgeId>& own = called_by[function];
    functions[function].first_called = static_cast<std::uint32_t>(called.size());
    functions[function].called_checksum =
        static_cast<std::uint32_t>(checksum(std::as_bytes(std::span(own))));
    called.insert(called.end(), own.begin(), own.end());
  }
  counts.callers = called.size();
  const std::vector<std::byte> text = to_bytes(description);
  counts.description_bytes = text.size();
  const auto append = [this](std::span<const std::byte> part) { output_.append(part); };
  give_padded(std::span<const EdgeEntry>(made.edges), append);
  give_padded(std::span<const BlockEntry>(made.blocks), append);
  give_padded(std::span<const EdgeId>(called), append);
  std::vector<std::byte> directory;
  const auto add = [&directory](std::span<const std::byte> part) {
    directory.insert(directory.end(), part.begin(), part.end());
  };
  give_padded(std::span<const DirectoryHeader>(&counts, 1), add);
  give_padded(std::span<const char>(key), add);
  give_padded(std::span<const FunctionEntry>(functions), add);
  give_padded(std::span<const ThreadEntry>(threads), add);
  give_padded(std::span<const std::byte>(text), add);
  header.directory_offset = output_.size();
  header.directory_bytes = directory.size();
  header.directory_checksum = checksum(directory);
  output_.append(directory);
}

void Writer::write_header(FileHeader& header) {
  header.file_bytes = output_.size();
  const auto fields = std::as_bytes(std::span(&header, 1));
  header.header_checksum = checksum(fields.first(offsetof(FileHeader, header_checksum)));
  output_.overwrite(0, fields);
}

// Appends the figures of large edges, which are computed from the cache that is complete otherwise.
void Writer::append_large_edges(FileHeader& header) {
  std::vector<LargeEdge> large;
  output_.look_at([&](const std::string& file, std::span<const std::byte> bytes) {
    if (const auto cache = file.empty() ? CallCache::view(bytes) : CallCache::open(file)) {
      large = large_edges(**cache, options_.large_edge_calls);
    }
  });
  const auto bytes = std::as_bytes(std::span<const LargeEdge>(large));
  header.large_edges = large.size();
  header.large_edges_checksum = checksum(bytes);
  output_.append(bytes);
  write_header(header);
}

Result<std::shared_ptr<CallCache>> Writer::finish(const std::string& key,
                                                  const Description& description) {
  for (const auto& thread : threads_) {
    thread->submit();
  }
  for (const auto& encoder : encoders_) {
    encoder->finish();
  }
  for (const auto& thread : threads_) {
    thread->flush();
    starts_.emplace(thread->thread(), thread->take_starts());
  }
  encoders_.clear();
  threads_.clear();
  ::malloc_trim(0); // returns what the threads used to the system
  const std::lock_guard lock(mutex_);
  if (!is_described(description)) {
    return std::unexpected(Error{
        .kind = Error::Kind::bad_input,
        .message = "a call refers to a function, site or thread that is not in the description"});
  }
  std::ranges::sort(late_);
  const auto repeats = std::ranges::unique(late_);
  late_.erase(repeats.begin(), repeats.end());
  const std::vector<std::vector<std::size_t>> blocks_of = blocks_of_late();
  for (std::size_t i = 0; i < late_.size(); ++i) {
    mark_inner(late_[i], blocks_of[i]);
  }
  output_.append(std::vector<std::byte>(column_padding)); // see Column
  output_.append(padding_after(output_.size()));
  FileHeader header;
  append_lists(key, description, header);
  write_header(header);
  append_large_edges(header);
  const std::string file = output_.complete();
  if (!output_.trouble().empty()) {
    trouble_ = output_.trouble();
  }
  if (file.empty()) {
    return CallCache::open(output_.take());
  }
  auto opened = CallCache::open(file);
  if (opened) {
    if (auto published = output_.publish(); !published) {
      trouble_ = published.error().one_line(); // the mapping stays valid without a name
    }
  }
  return opened;
}

} // namespace ptlens::cache
