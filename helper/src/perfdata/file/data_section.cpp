// One pass over the records of the data section.
#include "perfdata/file/data_section.hpp"

#include "base/cancellation.hpp"
#include "perfdata/bytes/byte_reader.hpp"
#include "perfdata/bytes/compressed_records.hpp"
#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/records/kernel_records.hpp"
#include "perfdata/records/perf_records.hpp"

#include <fmt/format.h>

#include <optional>

namespace ptlens::perfdata {

namespace {

class Walk {
public:
  Walk(const FileHeader& header, AttributeTable& attributes, SideBand& side_band,
       AuxChunks& aux_chunks, const Forget& forget)
      : header_(header), attributes_(attributes), side_band_(side_band), aux_chunks_(aux_chunks),
        forget_(forget) {}

  Result<void> run(std::span<const std::byte> file) {
    ByteReader reader(file.subspan(header_.data.offset, header_.data.size));
    std::uint64_t offset = header_.data.offset;
    constexpr std::uint64_t records_per_check = 1024;
    constexpr std::uint64_t bytes_kept = std::uint64_t{32} << 20U;
    std::uint64_t forgotten = offset;
    for (std::uint64_t records = 0; reader.remaining() != 0; ++records) {
      if (records % records_per_check == 0 && cancel_asked()) {
        return std::unexpected(Error{.kind = Error::Kind::cancelled,
                                     .message = "reading the recording was cancelled"});
      }
      offset = header_.data.offset + reader.position();
      if (offset - forgotten > bytes_kept) {
        forget_(file.subspan(forgotten, offset - forgotten));
        forgotten = offset;
      }
      const auto record = next(reader, offset);
      if (!record) {
        return end_within_record(offset, "the record here is incomplete");
      }
      const auto followed = bytes_after(*record);
      if (!followed) {
        return std::unexpected(followed.error());
      }
      const std::uint64_t end_of_record = header_.data.offset + reader.position();
      reader.skip(*followed);
      if (reader.failed()) {
        return end_within_record(
            offset,
            fmt::format("the {:#x} bytes after the {} record extend beyond the data section",
                        *followed, record_name(record->type)));
      }
      if (auto done = handle(*record, end_of_record); !done) {
        return done;
      }
    }
    if (compressed_.unfinished() && !header_.unfinished) {
      return std::unexpected(truncated(offset, "its compressed stream ends within a record"));
    }
    return {};
  }

private:
  // Returns nothing where no whole record is left.
  static std::optional<Record> next(ByteReader& reader, std::uint64_t offset) {
    Record record;
    record.file_offset = offset;
    record.type = reader.read<std::uint32_t>();
    record.misc = reader.read<std::uint16_t>();
    const auto size = reader.read<std::uint16_t>();
    if (reader.failed() || size < record_header_size) {
      return std::nullopt;
    }
    record.payload = reader.take(size - record_header_size);
    return reader.failed() ? std::nullopt : std::optional(record);
  }

  // Returns the number of bytes after this record that are not a record.
  static Result<std::uint64_t> bytes_after(const Record& record) {
    if (record.type == record_auxtrace) {
      if (const auto auxtrace = read_auxtrace(record.payload)) {
        return auxtrace->size;
      }
      return std::unexpected(malformed(record, "is shorter than its fields"));
    }
    if (record.type == record_header_tracing_data) {
      constexpr std::uint64_t alignment = 8;
      ByteReader reader(record.payload);
      const std::uint64_t size = reader.read<std::uint32_t>();
      if (reader.failed()) {
        return std::unexpected(malformed(record, "is shorter than its fields"));
      }
      return (size + alignment - 1) / alignment * alignment;
    }
    return 0;
  }

  [[nodiscard]] Result<void> end_within_record(std::uint64_t offset,
                                               const std::string& what) const {
    if (header_.unfinished) {
      return {};
    }
    return std::unexpected(malformed(offset, what));
  }

  Result<void> handle(const Record& record, std::uint64_t end_of_record) {
    if (record.type < side_band_.record_counts.size()) {
      ++side_band_.record_counts[record.type];
    }
    switch (record.type) {
    case record_auxtrace:
      if (const auto auxtrace = read_auxtrace(record.payload)) {
        return aux_chunks_.add(record, *auxtrace, end_of_record);
      }
      return std::unexpected(malformed(record, "is shorter than its fields"));
    case record_compressed:
    case record_compressed2:
      return compressed_.add(record, [this](const Record& inner) { return handle(inner, 0); });
    default:
      return record.type < first_perf_record ? read_kernel_record(record, attributes_, side_band_)
                                             : read_perf_record(record, attributes_, side_band_);
    }
  }

  const FileHeader& header_;
  AttributeTable& attributes_;
  SideBand& side_band_;
  AuxChunks& aux_chunks_;
  const Forget& forget_;
  CompressedRecords compressed_;
};

} // namespace

Result<void> read_data_section(std::span<const std::byte> file, const FileHeader& header,
                               AttributeTable& attributes, SideBand& side_band,
                               AuxChunks& aux_chunks, const Forget& forget) {
  return Walk(header, attributes, side_band, aux_chunks, forget).run(file);
}

} // namespace ptlens::perfdata
