// AUXTRACE records are grouped by buffer.
#include "perfdata/records/aux_chunks.hpp"

#include "perfdata/bytes/byte_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptlens::perfdata {
namespace {

// perf pads each chunk with zeros to a multiple of this size, and does not count the padding in the
// offset of the next chunk (PERF_AUXTRACE_RECORD_ALIGNMENT, tools/perf/util/auxtrace.c).
constexpr std::uint64_t alignment = 8;

// Removes the padding. `chunks` must be ordered by offset.
void take_off_padding(std::vector<AuxChunk>& chunks) {
  for (std::size_t index = 0; index + 1 < chunks.size(); ++index) {
    const std::uint64_t after = chunks[index].aux_offset + chunks[index].size;
    const std::uint64_t next = chunks[index + 1].aux_offset;
    if (after > next && after - next < alignment && chunks[index].size > after - next) {
      chunks[index].size -= after - next;
    }
  }
}

} // namespace

std::optional<AuxTraceHeader> read_auxtrace(std::span<const std::byte> payload) {
  ByteReader reader(payload);
  AuxTraceHeader header;
  header.size = reader.read<std::uint64_t>();
  header.offset = reader.read<std::uint64_t>();
  header.reference = reader.read<std::uint64_t>();
  header.index = reader.read<std::uint32_t>();
  header.tid = reader.read<std::int32_t>();
  header.cpu = reader.read<std::int32_t>();
  if (reader.failed()) {
    return std::nullopt;
  }
  return header;
}

Result<void> AuxChunks::add(const Record& record, const AuxTraceHeader& header,
                            std::uint64_t trace_offset) {
  // A buffer of a CPU belongs to no thread. perf before 5.x stored the traced program's tid there.
  const std::int32_t tid = header.cpu >= 0 ? -1 : header.tid;
  const auto [position, added] = buffers_.try_emplace(header.index);
  AuxBuffer& buffer = position->second;
  if (added) {
    buffer.index = header.index;
    buffer.cpu = header.cpu;
    buffer.tid = tid;
  } else if (buffer.cpu != header.cpu || buffer.tid != tid) {
    return std::unexpected(malformed(
        record,
        fmt::format("assigns buffer {} to cpu {} tid {}, an earlier record to cpu {} tid {}",
                    header.index, header.cpu, tid, buffer.cpu, buffer.tid)));
  }
  if (header.size != 0) {
    buffer.chunks.push_back({.file_offset = trace_offset,
                             .size = header.size,
                             .aux_offset = header.offset,
                             .reference = header.reference});
  }
  return {};
}

std::vector<AuxBuffer> AuxChunks::take() {
  std::vector<AuxBuffer> buffers;
  buffers.reserve(buffers_.size());
  for (auto& [index, buffer] : buffers_) {
    std::ranges::stable_sort(buffer.chunks, {}, &AuxChunk::aux_offset);
    take_off_padding(buffer.chunks);
    buffers.push_back(std::move(buffer));
  }
  buffers_.clear();
  return buffers;
}

} // namespace ptlens::perfdata
