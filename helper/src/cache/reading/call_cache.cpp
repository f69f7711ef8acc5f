// Every offset, count and index is checked before it is used.
#include "cache/reading/call_cache.hpp"

#include "base/cancellation.hpp"
#include "cache/format/checksum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ptlens::cache {
namespace {

Error damage(std::string message, std::uint64_t offset) {
  return {.kind = Error::Kind::bad_input,
          .message = std::move(message),
          .offset = offset,
          .remedy = "it is written again with the next question about the recording"};
}

template <class T>
T copy_of(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Returns the first `count` objects in `bytes`, and removes them from it. Returns nothing where
// they do not fit or are not aligned.
template <class T>
std::optional<std::span<const T>> take(std::span<const std::byte>& bytes, std::uint64_t count) {
  if (count > bytes.size() / sizeof(T) ||
      std::bit_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0) {
    return std::nullopt;
  }
  const std::span<const T> taken(reinterpret_cast<const T*>(bytes.data()), count);
  const std::size_t used = count * sizeof(T);
  bytes = bytes.subspan(std::min(bytes.size(), (used + alignment - 1) / alignment * alignment));
  return taken;
}

} // namespace

std::shared_ptr<CallCache> CallCache::make() {
  return std::shared_ptr<CallCache>(new CallCache); // NOLINT(cppcoreguidelines-owning-memory)
}

Result<std::shared_ptr<CallCache>> CallCache::open(const std::string& path) {
  auto file = perfdata::MappedFile::open(path);
  if (!file) {
    return std::unexpected(std::move(file.error()));
  }
  std::shared_ptr<CallCache> cache = make();
  cache->file_ = std::move(*file);
  cache->bytes_ = cache->file_->bytes();
  if (auto done = cache->read(); !done) {
    done.error().file = path;
    return std::unexpected(std::move(done.error()));
  }
  return cache;
}

Result<std::shared_ptr<CallCache>> CallCache::open(std::vector<std::byte> bytes) {
  auto cache = view(bytes);
  if (cache) {
    (*cache)->memory_ = std::move(bytes); // moving the vector does not move the bytes
  }
  return cache;
}

Result<std::shared_ptr<CallCache>> CallCache::view(std::span<const std::byte> bytes) {
  std::shared_ptr<CallCache> cache = make();
  cache->bytes_ = bytes;
  if (auto done = cache->read(); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return cache;
}

Result<void> CallCache::read() {
  if (bytes_.size() < sizeof(FileHeader)) {
    return std::unexpected(damage("the file is too short to be a call cache", bytes_.size()));
  }
  const auto header = copy_of<FileHeader>(bytes_, 0);
  if (header.magic != file_magic) {
    return std::unexpected(damage("the file is not a call cache", 0));
  }
  if (checksum(bytes_.first(offsetof(FileHeader, header_checksum))) != header.header_checksum) {
    return std::unexpected(damage("the header is damaged", 0));
  }
  if (header.version != format_version) {
    Error error =
        damage(fmt::format("the cache has version {}, this is {}", header.version, format_version),
               offsetof(FileHeader, version));
    error.kind = Error::Kind::unsupported;
    return std::unexpected(std::move(error));
  }
  if (header.file_bytes != bytes_.size() || header.directory_offset % alignment != 0 ||
      header.directory_offset > bytes_.size() ||
      header.directory_bytes > bytes_.size() - header.directory_offset) {
    return std::unexpected(damage("the file is not as long as its header says", bytes_.size()));
  }
  const auto directory = bytes_.subspan(header.directory_offset, header.directory_bytes);
  auto behind = bytes_.subspan(header.directory_offset + header.directory_bytes);
  const auto large = take<LargeEdge>(behind, header.large_edges);
  if (!large || !behind.empty()) {
    return std::unexpected(damage("the figures of large edges do not fit", bytes_.size()));
  }
  large_edges_ = *large;
  large_checksum_ = header.large_edges_checksum;
  if (checksum(directory) != header.directory_checksum) {
    return std::unexpected(damage("the directory is damaged", header.directory_offset));
  }
  return read_directory(header.directory_offset, header.directory_bytes);
}

Result<void> CallCache::read_directory(std::uint64_t offset, std::uint64_t bytes) {
  auto left = bytes_.subspan(offset, bytes);
  const auto wrong = [&](const char* what) {
    return std::unexpected(
        damage(fmt::format("the directory's {} do not fit", what), offset + bytes - left.size()));
  };
  const auto header = take<DirectoryHeader>(left, 1);
  if (!header) {
    return wrong("counts");
  }
  const DirectoryHeader& counts = header->front();
  const auto key = take<char>(left, counts.key_bytes);
  if (!key) {
    return wrong("key");
  }
  key_ = std::string_view(key->data(), key->size());
  const auto functions = take<FunctionEntry>(left, counts.functions);
  const auto threads = functions ? take<ThreadEntry>(left, counts.threads) : std::nullopt;
  const auto text = threads ? take<std::byte>(left, counts.description_bytes) : std::nullopt;
  if (!text || !left.empty()) {
    return wrong("parts");
  }
  auto description = description_from(*text);
  if (!description || description->functions.size() != functions->size() ||
      description->threads.size() != threads->size()) {
    return wrong("functions, sites and threads");
  }
  description_ = std::move(*description);
  sites_ = description_.sites.size();
  functions_ = *functions;
  threads_ = *threads;
  for (const ThreadEntry& thread : threads_) {
    thread_calls_.push_back(thread.calls);
  }
  first_start_ = counts.first_start;
  if (!read_starts(counts) || !read_entries(counts, offset) || !counts_agree()) {
    return wrong("edges and blocks");
  }
  const auto unchecked = [](std::size_t parts) {
    return std::make_unique<std::atomic<std::uint8_t>[]>(parts);
  };
  edges_checked_ = unchecked(edges_.size());
  blocks_checked_ = unchecked(blocks_.size());
  called_checked_ = unchecked(functions_.size());
  starts_checked_ = unchecked(threads_.size());
  large_checked_ = unchecked(1);
  return {};
}

// Reads the starts of the threads' calls, which end where the entries begin.
bool CallCache::read_starts(const DirectoryHeader& counts) {
  blocks_end_ = counts.starts_offset;
  if (counts.starts_offset % alignment != 0 || counts.starts_offset < sizeof(FileHeader) ||
      counts.entries_offset > bytes_.size() || counts.starts_offset > counts.entries_offset) {
    return false;
  }
  auto left = bytes_.subspan(counts.starts_offset, counts.entries_offset - counts.starts_offset);
  for (const ThreadEntry& thread : threads_) {
    const auto groups = take<StartGroup>(left, thread.start_groups);
    if (!groups) {
      return false;
    }
    starts_.push_back(*groups);
  }
  return left.empty();
}

// Reads the entries, which end at that offset.
bool CallCache::read_entries(const DirectoryHeader& counts, std::uint64_t end) {
  if (counts.entries_offset % alignment != 0 || counts.entries_offset > end) {
    return false;
  }
  auto left = bytes_.subspan(counts.entries_offset, end - counts.entries_offset);
  const auto edges = take<EdgeEntry>(left, counts.edges);
  const auto blocks = edges ? take<BlockEntry>(left, counts.blocks) : std::nullopt;
  // Their number is even: the last may be padding.
  const auto called = blocks && counts.callers <= counts.edges
                          ? take<EdgeId>(left, counts.callers + counts.callers % 2)
                          : std::nullopt;
  if (!called || !left.empty() || edges->size() >= index_of(EdgeId::none) ||
      blocks->size() > UINT32_MAX || (counts.callers % 2 != 0 && called->back() != EdgeId{})) {
    return false;
  }
  edges_ = *edges;
  blocks_ = *blocks;
  called_ = called->first(counts.callers);
  return true;
}

bool CallCache::counts_agree() {
  const std::uint64_t most_calls = std::uint64_t{blocks_.size()} * UINT16_MAX;
  for (const std::uint32_t calls : thread_calls_) {
    if (calls > most_calls - calls_) {
      return false;
    }
    calls_ += calls;
  }
  FunctionEntry before;
  for (const FunctionEntry& entry : functions_) {
    if (entry.first_edge < before.first_edge || entry.first_called < before.first_called) {
      return false;
    }
    before = entry;
  }
  return before.first_edge <= edges_.size() && before.first_called <= called_.size() &&
         (functions_.empty()
              ? edges_.empty() && called_.empty()
              : functions_.front().first_edge == 0 && functions_.front().first_called == 0);
}

bool CallCache::agrees(EdgeId edge) const {
  const EdgeEntry& entry = edges_[index_of(edge)];
  const Edge& between = entry.edge;
  if (index_of(between.function) >= functions_.size() ||
      (between.caller != stacks::FunctionId::none &&
       index_of(between.caller) >= functions_.size()) ||
      (between.site != stacks::SiteId::none && index_of(between.site) >= sites_) ||
      entry.first_block > blocks_.size() || entry.blocks > blocks_.size() - entry.first_block) {
    return false;
  }
  const auto blocks = blocks_.subspan(entry.first_block, entry.blocks);
  return edges_to(between.function).has(edge) && checksum_of(entry, blocks) == entry.checksum &&
         std::ranges::all_of(blocks, [this](const BlockEntry& block) {
           return block.thread < thread_calls_.size() && block.calls != 0 &&
                  block.first_start <= block.last_end && block.extras <= block.calls &&
                  block.offset >= sizeof(FileHeader) && block.offset <= blocks_end_ &&
                  block.bytes + column_padding <= blocks_end_ - block.offset;
         });
}

std::pair<std::uint32_t, std::uint32_t> CallCache::range_of(stacks::FunctionId function,
                                                            std::uint32_t FunctionEntry::* first,
                                                            std::size_t all) const {
  const std::size_t index = index_of(function);
  if (index >= functions_.size()) {
    return {0, 0};
  }
  const std::size_t last = index + 1 < functions_.size() ? functions_[index + 1].*first : all;
  return {functions_[index].*first, static_cast<std::uint32_t>(last)};
}

IdRange<EdgeId> CallCache::edges_to(stacks::FunctionId function) const {
  const auto [first, last] = range_of(function, &FunctionEntry::first_edge, edges_.size());
  return {EdgeId{first}, EdgeId{last}};
}

std::span<const EdgeId> CallCache::edges_from(stacks::FunctionId function) const {
  if (index_of(function) >= functions_.size()) {
    return {};
  }
  const auto [first, last] = range_of(function, &FunctionEntry::first_called, called_.size());
  const auto called = called_.subspan(first, last - first);
  const bool good = is_whole(called_checked_, index_of(function), [&] {
    return static_cast<std::uint32_t>(checksum(std::as_bytes(called))) ==
               functions_[index_of(function)].called_checksum &&
           std::ranges::all_of(called, [&](EdgeId edge) {
             return index_of(edge) < edges_.size() &&
                    edges_[index_of(edge)].edge.caller == function;
           });
  });
  return good ? called : std::span<const EdgeId>{};
}

const LargeEdge* CallCache::large_edge(EdgeId edge) const {
  if (!is_whole(large_checked_, 0, [&] {
        return checksum(std::as_bytes(large_edges_)) == large_checksum_ &&
               std::ranges::is_sorted(large_edges_, {}, &LargeEdge::edge);
      })) {
    return nullptr;
  }
  const auto found = std::ranges::lower_bound(large_edges_, edge, {}, &LargeEdge::edge);
  return found != large_edges_.end() && found->edge == edge ? &*found : nullptr;
}

std::optional<Block> CallCache::block(const BlockEntry& entry) const {
  if (cancel_asked()) {
    return std::nullopt;
  }
  const auto bytes = bytes_.subspan(entry.offset, entry.bytes);
  const auto index = static_cast<std::size_t>(&entry - blocks_.data());
  if (!is_whole(blocks_checked_, index,
                [&] { return static_cast<std::uint32_t>(checksum(bytes)) == entry.checksum; })) {
    return std::nullopt;
  }
  if (!is_whole(starts_checked_, entry.thread, [&] {
        return checksum(std::as_bytes(starts_[entry.thread])) ==
               threads_[entry.thread].starts_checksum;
      })) {
    return std::nullopt;
  }
  auto block = Block::parse(bytes, entry, StartIndex(starts_[entry.thread]));
  if (!block) {
    note_damage();
  }
  return block;
}

} // namespace ptlens::cache
