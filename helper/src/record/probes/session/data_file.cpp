#include "record/probes/session/data_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr std::uint64_t data_header_size = 104;
constexpr std::size_t flush_size = std::size_t{1} << 20U;
// HEADER_* of tools/perf/util/header.h
constexpr unsigned feature_build_id = 2;
constexpr unsigned feature_hostname = 3;
constexpr unsigned feature_command_line = 11;
constexpr unsigned feature_event_description = 12;

template <class Value>
void put_value(std::vector<std::byte>& bytes, const Value& value) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value); // NOLINT
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

void put_padded(std::vector<std::byte>& bytes, std::string_view text, std::size_t size) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data()); // NOLINT
  bytes.insert(bytes.end(), begin, begin + text.size());
  bytes.resize(bytes.size() + size - text.size());
}

// A length, and the text with its end, in units of 64 bytes like perf's.
void put_text(std::vector<std::byte>& bytes, std::string_view text) {
  constexpr std::size_t unit = 64;
  const std::size_t size = (text.size() / unit + 1) * unit;
  put_value(bytes, static_cast<std::uint32_t>(size));
  put_padded(bytes, text, size);
}

std::vector<std::byte>
build_id_feature(const std::map<std::string, std::vector<std::uint8_t>>& build_ids) {
  constexpr std::size_t id_size = 24; // 20 bytes, the length, reserved
  constexpr std::size_t unit = 8;
  constexpr std::size_t longest_id = 20;
  constexpr std::size_t longest_path = 4096;
  constexpr std::uint16_t user_with_size = 2 | (1U << 15U);
  std::vector<std::byte> bytes;
  for (const auto& [path, id] : build_ids) {
    if (id.empty() || id.size() > longest_id || path.size() >= longest_path) {
      continue;
    }
    const std::size_t path_size = (path.size() / unit + 1) * unit;
    put_value(bytes, std::uint32_t{0});
    put_value(bytes, user_with_size);
    put_value(bytes, static_cast<std::uint16_t>(8 + 4 + id_size + path_size));
    put_value(bytes, std::int32_t{-1});                                      // of no process
    std::string padded(reinterpret_cast<const char*>(id.data()), id.size()); // NOLINT
    padded.resize(longest_id);
    padded += static_cast<char>(id.size());
    put_padded(bytes, padded, id_size);
    put_padded(bytes, path, path_size);
  }
  return bytes;
}

std::vector<std::byte> event_feature(std::span<const HitEvents::Described> events) {
  std::vector<std::byte> bytes;
  put_value(bytes, static_cast<std::uint32_t>(events.size()));
  put_value(bytes, static_cast<std::uint32_t>(sizeof(perf_event_attr)));
  for (const HitEvents::Described& event : events) {
    put_value(bytes, event.attribute);
    put_value(bytes, static_cast<std::uint32_t>(event.ids.size()));
    put_text(bytes, event.name);
    for (const std::uint64_t id : event.ids) {
      put_value(bytes, id);
    }
  }
  return bytes;
}

std::vector<std::byte> command_line_feature(const std::vector<std::string>& words) {
  std::vector<std::byte> bytes;
  put_value(bytes, static_cast<std::uint32_t>(words.size()));
  for (const std::string& word : words) {
    put_text(bytes, word);
  }
  return bytes;
}

} // namespace

Result<DataFile> DataFile::create(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid()) {
    const int reason = errno;
    return std::unexpected(
        Error{.kind = reason == EACCES ? Error::Kind::no_rights : Error::Kind::failed,
              .message = fmt::format("the file cannot be created: {}", std::strerror(reason)),
              .file = path,
              .remedy = "use a directory that you can write to"});
  }
  return DataFile(path, std::move(file));
}

void DataFile::append(std::span<const std::byte> record) {
  waiting_.insert(waiting_.end(), record.begin(), record.end());
  if (waiting_.size() >= flush_size) {
    flush();
  }
}

void DataFile::flush() {
  write_at(waiting_, data_header_size + written_);
  written_ += waiting_.size();
  waiting_.clear();
}

void DataFile::write_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty() && failed_ == 0) {
    const ssize_t done =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      failed_ = done < 0 ? errno : ENOSPC;
      return;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

Result<void> DataFile::finish(const End& end) {
  flush();
  utsname system{};
  ::uname(&system);
  std::vector<std::byte> hostname;
  put_text(hostname, static_cast<const char*>(system.nodename));
  const std::map<unsigned, std::vector<std::byte>> features = {
      {feature_build_id, build_id_feature(end.build_ids)},
      {feature_hostname, std::move(hostname)},
      {feature_command_line, command_line_feature(end.command_line)},
      {feature_event_description, event_feature(end.events)}};
  const std::uint64_t table = data_header_size + written_;
  std::vector<std::byte> rest; // behind the records: the table, the features, ids, attributes
  std::uint64_t offset = table + 16 * features.size();
  std::uint64_t flags = 0;
  for (const auto& [bit, bytes] : features) {
    flags |= std::uint64_t{1} << bit;
    put_value(rest, offset);
    put_value(rest, std::uint64_t{bytes.size()});
    offset += bytes.size();
  }
  for (const auto& [bit, bytes] : features) {
    rest.insert(rest.end(), bytes.begin(), bytes.end());
  }
  rest.resize((rest.size() + 7) / 8 * 8);
  std::vector<std::byte> attributes;
  for (const HitEvents::Described& event : end.events) {
    put_value(attributes, event.attribute);
    put_value(attributes, table + rest.size());
    put_value(attributes, std::uint64_t{event.ids.size() * sizeof(std::uint64_t)});
    for (const std::uint64_t id : event.ids) {
      put_value(rest, id);
    }
  }
  const std::uint64_t attributes_at = table + rest.size();
  rest.insert(rest.end(), attributes.begin(), attributes.end());
  write_at(rest, table);
  std::vector<std::byte> header;
  put_padded(header, "PERFILE2", 8);
  for (const std::uint64_t word :
       {data_header_size, std::uint64_t{sizeof(perf_event_attr) + 16}, attributes_at,
        std::uint64_t{attributes.size()}, data_header_size, written_, std::uint64_t{0},
        std::uint64_t{0}, flags, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}}) {
    put_value(header, word);
  }
  write_at(header, 0);
  if (failed_ != 0) {
    return std::unexpected(
        Error{.message = fmt::format("the recording cannot be written: {}", std::strerror(failed_)),
              .file = path_,
              .remedy = "free some space, or use another directory"});
  }
  return {};
}

} // namespace ptlens::record
