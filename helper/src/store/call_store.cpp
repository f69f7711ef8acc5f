// Every offset, count and index is checked before it is used.
#include "store/call_store.hpp"

#include "base/cancellation.hpp"
#include "store/checksum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ptlens::store {
namespace {

Error damage(std::string message, std::uint64_t offset) {
  return {.kind = Error::Kind::bad_input,
          .message = std::move(message),
          .offset = offset,
          .remedy = "it is made anew when the recording is next asked about"};
}

template <class T>
T copy_of(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// `count` things at the front of `bytes`, which is moved past them. Nothing where they do not fit
// or are not aligned.
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

Result<std::shared_ptr<CallStore>> CallStore::open(const std::string& path) {
  auto file = perfdata::MappedFile::open(path);
  if (!file) {
    return std::unexpected(std::move(file.error()));
  }
  const std::shared_ptr<CallStore> store(new CallStore); // NOLINT(cppcoreguidelines-owning-memory)
  store->file_ = std::move(*file);
  store->bytes_ = store->file_->bytes();
  if (auto done = store->read(); !done) {
    done.error().file = path;
    return std::unexpected(std::move(done.error()));
  }
  return store;
}

Result<std::shared_ptr<CallStore>> CallStore::open(std::vector<std::byte> bytes) {
  const std::shared_ptr<CallStore> store(new CallStore); // NOLINT(cppcoreguidelines-owning-memory)
  store->memory_ = std::move(bytes);
  store->bytes_ = store->memory_;
  if (auto done = store->read(); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return store;
}

Result<void> CallStore::read() {
  if (bytes_.size() < sizeof(FileHeader)) {
    return std::unexpected(damage("the file is too short for a store of calls", bytes_.size()));
  }
  const auto header = copy_of<FileHeader>(bytes_, 0);
  if (header.magic != file_magic) {
    return std::unexpected(damage("this is no store of calls", 0));
  }
  if (checksum(bytes_.first(offsetof(FileHeader, header_checksum))) != header.header_checksum) {
    return std::unexpected(damage("the header is damaged", 0));
  }
  if (header.version != format_version) {
    Error error =
        damage(fmt::format("the store has version {}, this is {}", header.version, format_version),
               offsetof(FileHeader, version));
    error.kind = Error::Kind::unsupported;
    return std::unexpected(std::move(error));
  }
  if (header.file_bytes != bytes_.size() || header.directory_offset % alignment != 0 ||
      header.directory_offset > bytes_.size() ||
      header.directory_bytes != bytes_.size() - header.directory_offset) {
    return std::unexpected(damage("the file is not as long as its header says", bytes_.size()));
  }
  const auto directory = bytes_.subspan(header.directory_offset);
  if (checksum(directory) != header.directory_checksum) {
    return std::unexpected(damage("the directory is damaged", header.directory_offset));
  }
  return read_directory(header.directory_offset, header.directory_bytes);
}

Result<void> CallStore::read_directory(std::uint64_t offset, std::uint64_t bytes) {
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
  const auto edges = take<EdgeEntry>(left, counts.edges);
  const auto blocks = edges ? take<BlockEntry>(left, counts.blocks) : std::nullopt;
  const auto sums = blocks ? take<FunctionSums>(left, counts.functions) : std::nullopt;
  const auto text = sums ? take<std::byte>(left, counts.description_bytes) : std::nullopt;
  if (!text || !left.empty()) {
    return wrong("parts");
  }
  auto description = description_from(*text);
  if (!description || description->functions.size() != sums->size()) {
    return wrong("functions, sites and threads");
  }
  description_ = std::move(*description);
  sites_ = description_.sites.size();
  threads_ = description_.threads.size();
  edges_ = *edges;
  blocks_ = *blocks;
  sums_ = *sums;
  if (!entries_agree(offset)) {
    return wrong("edges and blocks");
  }
  index_callers();
  checked_ = std::make_unique<std::atomic<std::uint8_t>[]>(blocks_.size());
  return {};
}

bool CallStore::entries_agree(std::uint64_t blocks_end) {
  const std::size_t functions = sums_.size();
  std::uint64_t next_block = 0;
  first_block_.reserve(edges_.size());
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const EdgeEntry& entry = edges_[i];
    const Edge& edge = entry.edge;
    if (edge.function >= functions ||
        (edge.caller != stacks::no_call && edge.caller >= functions) ||
        (edge.site != stacks::no_site && edge.site >= sites_) ||
        (i > 0 && edge <= edges_[i - 1].edge) || entry.blocks > blocks_.size() - next_block) {
      return false;
    }
    first_block_.push_back(next_block);
    for (const BlockEntry& block : blocks(i)) {
      if (block.thread >= threads_ || block.calls == 0 || block.first_start > block.last_start ||
          block.extras > block.calls || block.inner > block.calls ||
          block.offset < sizeof(FileHeader) || block.offset > blocks_end ||
          block.bytes + column_padding > blocks_end - block.offset) {
        return false;
      }
      calls_ += block.calls;
    }
    next_block += entry.blocks;
  }
  return next_block == blocks_.size() && edges_.size() < stacks::no_call;
}

// Counting sort.
void CallStore::index_callers() {
  const std::size_t functions = sums_.size();
  first_edge_.assign(functions + 1, 0);
  first_caller_.assign(functions + 1, 0);
  for (const EdgeEntry& entry : edges_) {
    ++first_edge_[entry.edge.function + 1];
    if (entry.edge.caller != stacks::no_call) {
      ++first_caller_[entry.edge.caller + 1];
    }
  }
  for (std::size_t function = 0; function < functions; ++function) {
    first_edge_[function + 1] += first_edge_[function];
    first_caller_[function + 1] += first_caller_[function];
  }
  by_caller_.resize(first_caller_.back());
  std::vector<std::uint32_t> next(first_caller_.begin(), first_caller_.end());
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    if (edges_[i].edge.caller != stacks::no_call) {
      by_caller_[next[edges_[i].edge.caller]++] = i;
    }
  }
}

std::pair<std::uint32_t, std::uint32_t> CallStore::edges_to(std::uint32_t function) const {
  if (function >= sums_.size()) {
    return {0, 0};
  }
  return {first_edge_[function], first_edge_[function + 1]};
}

std::span<const std::uint32_t> CallStore::edges_from(std::uint32_t function) const {
  if (function >= sums_.size()) {
    return {};
  }
  return std::span(by_caller_)
      .subspan(first_caller_[function], first_caller_[function + 1] - first_caller_[function]);
}

std::optional<Block> CallStore::block(const BlockEntry& entry) const {
  if (cancel_asked()) {
    return std::nullopt;
  }
  const auto bytes = bytes_.subspan(entry.offset, entry.bytes);
  std::atomic<std::uint8_t>& checked = checked_[static_cast<std::size_t>(&entry - blocks_.data())];
  if (checked.load(std::memory_order_relaxed) == 0) {
    if (static_cast<std::uint32_t>(checksum(bytes)) != entry.checksum) {
      damaged_.store(true, std::memory_order_relaxed);
      return std::nullopt;
    }
    checked.store(1, std::memory_order_relaxed);
  }
  auto block = Block::parse(bytes, entry);
  if (!block) {
    damaged_.store(true, std::memory_order_relaxed);
  }
  return block;
}

} // namespace ptlens::store
