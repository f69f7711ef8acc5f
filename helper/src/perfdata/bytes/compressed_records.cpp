// Streaming decompression with libzstd.
#include "perfdata/bytes/compressed_records.hpp"

#include "perfdata/bytes/byte_reader.hpp"

#include <fmt/format.h>
#include <zstd.h>

namespace ptlens::perfdata {

namespace {
// perf's records compress 3 to 40 times. A far higher ratio is an attempt to exhaust memory.
constexpr std::uint64_t largest_ratio = 256;
constexpr std::uint64_t always_allowed = 16U << 20; // bytes
} // namespace

void CompressedRecords::Free::operator()(ZSTD_DCtx_s* stream) const {
  ZSTD_freeDCtx(stream);
}

Result<void> CompressedRecords::add(const Record& record, const Sink& sink) {
  if (!stream_) {
    stream_.reset(ZSTD_createDCtx());
    if (!stream_) {
      Error error;
      error.message = "there is not enough memory to decompress the records";
      return std::unexpected(error);
    }
    block_.resize(ZSTD_DStreamOutSize());
  }
  auto packed = record.payload;
  if (record.type ==
      record_compressed2) { // the payload begins with the size of the data; the rest is padding
    ByteReader reader(packed);
    const auto size = reader.read<std::uint64_t>();
    packed = reader.take(size);
    if (reader.failed()) {
      return std::unexpected(malformed(record, "is shorter than its data"));
    }
  }
  compressed_ += packed.size();
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  bool output_was_full = false;
  while (input.pos < input.size || output_was_full) {
    ZSTD_outBuffer output{block_.data(), block_.size(), 0};
    const std::size_t before = input.pos;
    const std::size_t status = ZSTD_decompressStream(stream_.get(), &output, &input);
    if (ZSTD_isError(status) != 0) {
      return std::unexpected(malformed(
          record, fmt::format("cannot be decompressed (zstd: {})", ZSTD_getErrorName(status))));
    }
    output_was_full = output.pos == output.size;
    decompressed_ += output.pos;
    if (decompressed_ > always_allowed && decompressed_ / largest_ratio > compressed_) {
      return std::unexpected(malformed(
          record, fmt::format("decompresses to more than {} times its size", largest_ratio)));
    }
    pending_.insert(pending_.end(), block_.begin(),
                    block_.begin() + static_cast<std::ptrdiff_t>(output.pos));
    if (auto done = pass_on(record, sink); !done) {
      return done;
    }
    if (output.pos == 0 && input.pos == before) {
      break;
    }
  }
  return {};
}

Result<void> CompressedRecords::pass_on(const Record& outer, const Sink& sink) {
  std::size_t position = 0;
  while (pending_.size() - position >= record_header_size) {
    const auto rest = std::span<const std::byte>(pending_).subspan(position);
    ByteReader reader(rest);
    Record inner;
    inner.type = reader.read<std::uint32_t>();
    inner.misc = reader.read<std::uint16_t>();
    const auto size = reader.read<std::uint16_t>();
    if (size < record_header_size) {
      return std::unexpected(malformed(outer, "contains a record without a size"));
    }
    if (size > rest.size()) {
      break;
    }
    inner.payload = rest.subspan(record_header_size, size - record_header_size);
    inner.file_offset = outer.file_offset;
    inner.compressed = true;
    if (inner.type == record_compressed || inner.type == record_compressed2 ||
        inner.type == record_auxtrace) {
      return std::unexpected(
          malformed(outer, fmt::format("contains a {} record, which is never compressed",
                                       record_name(inner.type))));
    }
    if (auto done = sink(inner); !done) {
      return done;
    }
    position += size;
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(position));
  return {};
}

} // namespace ptlens::perfdata
