// From waiting calls to blocks, and the directory behind them.
#include "store/writer.hpp"

#include "store/checksum.hpp"
#include "store/thread_writer.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace ptlens::store {
namespace {

template <class T>
void append(std::vector<std::byte>& out, std::span<const T> things) {
  const auto bytes = std::as_bytes(things);
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.resize((out.size() + alignment - 1) / alignment * alignment);
}

template <class T>
void append(std::vector<std::byte>& out, const T& thing) {
  append(out, std::span<const T>(&thing, 1));
}

struct Placed {
  Row row;
  std::size_t block = 0;
};

// Calls of one function in one thread, in order of start: which lie in another of them. What is
// outermost does not overlap. Where no time passes between the end of one and the start of the
// next, the mark they came with stands. Those that changed.
std::vector<const Placed*> mark(std::vector<Placed>& all, std::span<const Extra> extras) {
  std::ranges::sort(all, {}, [&](const Placed& placed) {
    const Row& row = placed.row;
    const std::uint32_t before = (row.flags & extra_bit) != 0 ? extras[row.extra].before : 0;
    return std::tuple(row.start, row.order - before, before == 0, ~row.order);
  });
  std::vector<const Placed*> changed;
  const Row* outer = nullptr;
  for (Placed& placed : all) {
    Row& row = placed.row;
    const std::uint64_t end = outer == nullptr ? 0 : outer->start + outer->latency;
    const bool was_inner = (row.flags & inner_bit) != 0;
    const bool inner = outer != nullptr && (row.start < end || (row.start == end && was_inner));
    if (inner != was_inner) {
      row.flags ^= inner_bit;
      changed.push_back(&placed);
    }
    if (!inner) {
      outer = &row;
    }
  }
  return changed;
}

} // namespace

Writer::Writer(Options options) : options_(std::move(options)) {
  options_.block_calls = std::clamp<std::uint32_t>(options_.block_calls, 1, UINT16_MAX);
  if (!options_.path.empty()) {
    remove_abandoned(options_.path);
    if (auto output = Output::create(options_.path)) {
      output_ = std::move(*output);
    } else {
      trouble_ = output.error().one_line();
    }
  }
  output_.append(std::vector<std::byte>(sizeof(FileHeader)));
  if (options_.own_thread) {
    constexpr std::size_t most_waiting = 16;
    storing_ = std::make_unique<OrderedWorker>(most_waiting);
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
  threads_.push_back(std::make_unique<ThreadWriter>(*this, index));
  ++thread_count_;
  return *threads_.back();
}

std::size_t Writer::memory_of_a_thread() const {
  constexpr std::size_t least = std::size_t{1} << 18U;
  return std::max(least, options_.memory_bytes / std::max<std::size_t>(1, thread_count_));
}

Writer::MadeBlock Writer::make_block(const Edge& edge, std::uint32_t thread, std::vector<Row>& rows,
                                     std::span<const Extra> extras, BlockEncoder& encoder) {
  MadeBlock made{.edge = edge, .entry = {}, .sums = sums_of(rows, extras)};
  made.entry = encoder.encode(rows, extras);
  made.entry.thread = thread;
  made.entry.checksum = static_cast<std::uint32_t>(checksum(encoder.bytes()));
  return made;
}

void Writer::add_block(const MadeBlock& block, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const auto [at, added] =
      edge_numbers_.try_emplace(block.edge, static_cast<std::uint32_t>(edges_.size()));
  if (added) {
    edges_.push_back(block.edge);
  }
  if (block.edge.function >= sums_.size()) {
    sums_.resize(std::size_t{block.edge.function} + 1);
  }
  sums_[block.edge.function].add(block.sums);
  blocks_.push_back({.entry = block.entry, .edge = at->second});
  blocks_.back().entry.offset = output_.size();
  output_.append(bytes);
}

void Writer::mark_inner(const Late& late) {
  std::vector<Placed> all;
  std::vector<Extra> extras;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const BlockEntry& entry = blocks_[i].entry;
    if (entry.thread != late.thread || edges_[blocks_[i].edge].function != late.function) {
      continue;
    }
    std::vector<std::byte> bytes = output_.read(entry.offset, entry.bytes);
    const std::size_t size = bytes.size();
    bytes.resize(size + column_padding);
    const auto block = store::Block::parse(std::span(bytes).first(size), entry);
    if (!block) {
      return; // it cannot be read back, and its checksum will say so
    }
    std::vector<Row> rows;
    block->read_rows(entry, rows, extras);
    for (const Row& row : rows) {
      all.push_back({.row = row, .block = i});
    }
  }
  std::set<std::size_t> changed;
  for (const Placed* const placed : mark(all, extras)) {
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
  for (auto& [block, rows] : rows_of) { // at the end of the file: what they were before stays
    BlockEntry entry = encoder.encode(rows, extras);
    entry.thread = late.thread;
    entry.checksum = static_cast<std::uint32_t>(checksum(encoder.bytes()));
    entry.offset = output_.size();
    output_.append(encoder.bytes());
    blocks_[block].entry = entry;
  }
}

std::vector<std::byte> Writer::directory(const std::string& key, const Description& description) {
  std::vector<std::uint32_t> order(edges_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [this](std::uint32_t edge) { return edges_[edge]; });
  std::vector<std::uint32_t> place(order.size());
  std::vector<EdgeEntry> edges(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    edges[i].edge = edges_[order[i]];
  }
  for (Block& block : blocks_) {
    block.edge = place[block.edge];
    ++edges[block.edge].blocks;
  }
  std::ranges::sort(blocks_, {}, [](const Block& block) {
    return std::tuple(block.edge, block.entry.thread, block.entry.first_order, block.entry.offset);
  });
  std::vector<BlockEntry> entries;
  entries.reserve(blocks_.size());
  for (const Block& block : blocks_) {
    entries.push_back(block.entry);
  }
  sums_.resize(description.functions.size());
  const std::vector<std::byte> text = to_bytes(description);
  std::vector<std::byte> bytes;
  append(bytes, DirectoryHeader{.key_bytes = key.size(),
                                .edges = edges.size(),
                                .blocks = blocks_.size(),
                                .functions = sums_.size(),
                                .description_bytes = text.size()});
  append(bytes, std::span<const char>(key));
  append(bytes, std::span<const EdgeEntry>(edges));
  append(bytes, std::span<const BlockEntry>(entries));
  append(bytes, std::span<const FunctionSums>(sums_));
  append(bytes, std::span<const std::byte>(text));
  return bytes;
}

Result<std::shared_ptr<CallStore>> Writer::finish(const std::string& key,
                                                  const Description& description) {
  for (const auto& thread : threads_) {
    thread->hand_on();
  }
  if (storing_) {
    storing_->finish();
  }
  for (const auto& thread : threads_) {
    thread->flush();
  }
  storing_.reset();
  threads_.clear();
  const std::lock_guard lock(mutex_);
  if (sums_.size() > description.functions.size()) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "a call is of a function that is not described"});
  }
  std::ranges::sort(late_);
  const auto repeats = std::ranges::unique(late_);
  late_.erase(repeats.begin(), repeats.end());
  for (const Late& late : late_) {
    mark_inner(late);
  }
  const std::vector<std::byte> listed = directory(key, description);
  output_.append(std::vector<std::byte>(column_padding)); // see Column
  output_.append(std::vector<std::byte>((alignment - output_.size() % alignment) % alignment));
  FileHeader header;
  header.directory_offset = output_.size();
  header.directory_bytes = listed.size();
  header.directory_checksum = checksum(listed);
  output_.append(listed);
  header.file_bytes = output_.size();
  const auto fields = std::as_bytes(std::span(&header, 1));
  header.header_checksum = checksum(fields.first(offsetof(FileHeader, header_checksum)));
  output_.overwrite(0, fields);
  const std::string file = output_.complete();
  if (!output_.trouble().empty()) {
    trouble_ = output_.trouble();
  }
  if (file.empty()) {
    return CallStore::open(output_.take());
  }
  auto opened = CallStore::open(file);
  if (opened) {
    if (auto published = output_.publish(); !published) {
      trouble_ = published.error().one_line(); // the mapping lives on without a name
    }
  }
  return opened;
}

} // namespace ptlens::store
