#include "symbols/dwarf/kept_debug_info.hpp"

#include "base/checksum.hpp"
#include "base/field_archive.hpp"
#include "base/own_build.hpp"
#include "base/user_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace ptlens::symbols {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes_kept = std::uint64_t{512} << 20U; // of all files
constexpr std::size_t least_rows = 20'000; // fewer rows and functions are read as quickly
constexpr std::size_t subprogram_bytes = 29;

// Visits the fields of an object in the order of the file, for reading and writing.
template <class Archive, class Of>
void subprogram_fields(Archive& archive, Of& subprogram) {
  archive(subprogram.entry);
  archive(subprogram.linkage_name);
  archive(subprogram.file);
  archive(subprogram.line);
  archive(subprogram.artificial);
}

std::string text_of(const FileIdentity& identity) {
  return fmt::format("{:x}:{:x}:{:x}:{:x}.{:x}", identity.device, identity.inode, identity.size,
                     identity.changed_s, identity.changed_ns);
}

// Other builds of this program can read other tables from the same file.
std::string key_of(const DebugFile& file, const ElfImage& image) {
  return fmt::format("{} {} {}", own_build(), text_of(file.identity), text_of(image.identity()));
}

std::vector<std::byte> read_all(const std::string& path) {
  std::error_code failed;
  const std::uint64_t size = fs::file_size(path, failed);
  std::ifstream in(path, std::ios::binary);
  if (failed || !in || size > most_bytes_kept) {
    return {};
  }
  std::vector<std::byte> bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  return in ? bytes : std::vector<std::byte>();
}

// Removes the files that were used least recently.
void make_room(const fs::path& folder, std::uint64_t bytes) {
  struct Kept {
    fs::file_time_type used;
    std::uint64_t size = 0;
    fs::path path;
  };
  std::vector<Kept> all;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::uint64_t size = entry.file_size(ignored);
    if (!ignored) {
      all.push_back({.used = entry.last_write_time(ignored), .size = size, .path = entry.path()});
      bytes += size;
    }
  }
  std::ranges::sort(all, {}, &Kept::used);
  for (const Kept& kept : all) {
    if (bytes <= most_bytes_kept) {
      return;
    }
    bytes -= kept.size;
    fs::remove(kept.path, ignored);
  }
}

} // namespace

std::vector<std::byte> packed(const DebugInfo& info, const std::string& key) {
  FieldWriter out;
  const auto put = [&out](const auto& field) { out.put(field); };
  out.put(key);
  out.put(std::uint64_t{info.subprograms.size()});
  for (const Subprogram& subprogram : info.subprograms) {
    subprogram_fields(put, subprogram);
    out.put(std::uint64_t{subprogram.ranges.size()});
    for (const AddressRange& range : subprogram.ranges) {
      out.put(range.low);
      out.put(range.high);
    }
  }
  out.put(info.inlined_names);
  info.lines.pack(out);
  std::vector<std::byte> bytes = out.finish();
  const std::uint64_t sum = checksum(bytes);
  std::vector<std::byte> file(sizeof sum);
  std::memcpy(file.data(), &sum, sizeof sum);
  file.insert(file.end(), bytes.begin(), bytes.end());
  return file;
}

std::optional<DebugInfo> unpacked(std::span<const std::byte> bytes, std::string_view key) {
  std::uint64_t sum = 0;
  if (bytes.size() < sizeof sum) {
    return std::nullopt;
  }
  std::memcpy(&sum, bytes.data(), sizeof sum);
  bytes = bytes.subspan(sizeof sum);
  FieldReader in(bytes);
  std::string found;
  if (sum != checksum(bytes) || !in.read_strings()) {
    return std::nullopt;
  }
  in.get(found);
  if (found != key) {
    return std::nullopt;
  }
  DebugInfo info;
  const auto get = [&in](auto& field) { in.get(field); };
  info.subprograms.resize(in.length(subprogram_bytes));
  for (Subprogram& subprogram : info.subprograms) {
    subprogram_fields(get, subprogram);
    subprogram.ranges.resize(in.length(2 * sizeof(std::uint64_t)));
    for (AddressRange& range : subprogram.ranges) {
      in.get(range.low);
      in.get(range.high);
    }
  }
  in.get(info.inlined_names);
  return info.lines.unpack(in) && in.at_end() ? std::optional(std::move(info)) : std::nullopt;
}

DebugInfo known_debug_info(const DebugFile& file, const ElfImage& image) {
  const std::string folder = cache_folder();
  if (!file.has_dwarf || folder.empty()) {
    return read_debug_info(file, image);
  }
  const std::string key = key_of(file, image);
  const fs::path parent = fs::path(folder) / "symbols";
  const fs::path path = parent / fmt::format("{:016x}", checksum(key));
  std::error_code ignored;
  if (auto known = unpacked(read_all(path), key)) {
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    return std::move(*known);
  }
  DebugInfo info = read_debug_info(file, image);
  if (info.subprograms.size() + info.lines.row_count() >= least_rows) {
    const std::vector<std::byte> bytes = packed(info, key);
    make_room(parent, bytes.size());
    keep_in_cache(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return info;
}

} // namespace ptlens::symbols
