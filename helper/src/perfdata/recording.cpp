// A recording is opened in this order: mapping, header, attributes, records, features, sorting.
#include "perfdata/recording.hpp"

#include "perfdata/bytes/mapped_file.hpp"
#include "perfdata/contents/side_band.hpp"
#include "perfdata/file/data_section.hpp"
#include "perfdata/file/feature_sections.hpp"
#include "perfdata/file/file_header.hpp"
#include "perfdata/records/attribute_table.hpp"
#include "perfdata/records/aux_chunks.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace ptlens::perfdata {

struct Recording::Contents {
  Contents(std::string path, std::optional<MappedFile> file)
      : path(std::move(path)), file(std::move(file)) {}

  std::string path;
  std::optional<MappedFile> file;
  AttributeTable attributes;
  SideBand side_band;
  std::vector<AuxBuffer> aux_buffers;

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return file ? file->bytes() : std::span<const std::byte>{};
  }

  Result<void> read() {
    const auto header = read_file_header(bytes());
    if (!header) {
      return std::unexpected(header.error());
    }
    if (auto done = read_attribute_section(bytes(), *header, attributes); !done) {
      return done;
    }
    AuxChunks aux_chunks;
    const auto forget = [this](std::span<const std::byte> part) {
      if (file) {
        file->forget(part);
      }
    };
    if (auto done = read_data_section(bytes(), *header, attributes, side_band, aux_chunks, forget);
        !done) {
      return done;
    }
    if (auto done = read_feature_sections(bytes(), *header, attributes, side_band); !done) {
      return done;
    }
    aux_buffers = aux_chunks.take();
    side_band.order_by_time();
    order_samples(side_band, attributes);
    return {};
  }
};

Result<Recording> Recording::open(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) {
    return std::unexpected(file.error());
  }
  try {
    auto contents = std::make_unique<Contents>(path, *std::move(file));
    if (auto done = contents->read(); !done) {
      Error error = done.error();
      error.file = path;
      return std::unexpected(std::move(error));
    }
    return Recording(std::move(contents));
  } catch (const std::bad_alloc&) {
    Error error;
    error.message = "there is not enough memory for its side-band records";
    error.file = path;
    error.remedy = "record for a shorter time";
    return std::unexpected(error);
  }
}

Recording Recording::from(std::string path, SideBand side_band) {
  auto contents = std::make_unique<Contents>(std::move(path), std::nullopt);
  contents->side_band = std::move(side_band);
  return Recording(std::move(contents));
}

Recording::Recording(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

const std::string& Recording::path() const {
  return contents_->path;
}
std::uint64_t Recording::file_size() const {
  return contents_->bytes().size();
}

std::span<const Attribute> Recording::attributes() const {
  return contents_->attributes.attributes();
}
std::span<const Mapping> Recording::mappings() const {
  return contents_->side_band.mappings;
}
std::span<const ThreadName> Recording::thread_names() const {
  return contents_->side_band.thread_names;
}
std::span<const ThreadStart> Recording::thread_starts() const {
  return contents_->side_band.thread_starts;
}
std::span<const ThreadExit> Recording::thread_exits() const {
  return contents_->side_band.thread_exits;
}
std::span<const Switch> Recording::switches() const {
  return contents_->side_band.switches;
}

bool Recording::switches_recorded() const {
  return contents_->side_band.switches_recorded || !contents_->side_band.switches.empty() ||
         std::ranges::any_of(attributes(), &Attribute::context_switch);
}
std::span<const AuxWrite> Recording::aux_writes() const {
  return contents_->side_band.aux_writes;
}
std::span<const TraceStart> Recording::trace_starts() const {
  return contents_->side_band.trace_starts;
}
std::span<const Lost> Recording::lost() const {
  return contents_->side_band.lost;
}
std::span<const KernelSymbol> Recording::kernel_symbols() const {
  return contents_->side_band.kernel_symbols;
}
std::span<const TextPoke> Recording::text_pokes() const {
  return contents_->side_band.text_pokes;
}
std::span<const AuxTraceError> Recording::trace_errors() const {
  return contents_->side_band.trace_errors;
}
SampleView Recording::samples() const {
  return {contents_->side_band.samples, contents_->attributes};
}

void Recording::each_sample(const std::function<bool(const Sample&)>& visit) const {
  constexpr std::size_t between = std::size_t{1} << 16U;
  const auto forget = [this] {
    if (contents_->file) {
      contents_->file->forget(contents_->bytes());
    }
  };
  std::size_t count = 0;
  for (const SampleRecord& record : contents_->side_band.samples) {
    if (++count % between == 0) {
      forget();
    }
    if (!visit(decode_sample(record, contents_->attributes))) {
      return;
    }
  }
  forget();
}
std::span<const AuxBuffer> Recording::aux_buffers() const {
  return contents_->aux_buffers;
}
std::span<const BuildIdEntry> Recording::build_ids() const {
  return contents_->side_band.build_ids;
}

const std::optional<IntelPtInfo>& Recording::intel_pt() const {
  return contents_->side_band.intel_pt;
}
const TimeConversion& Recording::time_conversion() const {
  return contents_->side_band.time_conversion;
}
const std::string& Recording::hostname() const {
  return contents_->side_band.hostname;
}
const std::string& Recording::cpu_id() const {
  return contents_->side_band.cpu_id;
}
const std::vector<std::string>& Recording::command_line() const {
  return contents_->side_band.command_line;
}

std::uint64_t Recording::trace_bytes() const {
  std::uint64_t sum = 0;
  for (const AuxBuffer& buffer : contents_->aux_buffers) {
    for (const AuxChunk& chunk : buffer.chunks) {
      sum += chunk.size;
    }
  }
  return sum;
}

void Recording::forget(std::span<const std::byte> bytes) const {
  if (contents_->file) {
    contents_->file->forget(bytes);
  }
}

std::span<const std::byte> Recording::bytes(const AuxChunk& chunk) const {
  const auto file = contents_->bytes();
  if (chunk.file_offset > file.size() || chunk.size > file.size() - chunk.file_offset) {
    return {};
  }
  return file.subspan(chunk.file_offset, chunk.size);
}

std::span<const std::uint64_t> Recording::record_counts() const {
  return contents_->side_band.record_counts;
}

} // namespace ptlens::perfdata
