// libarchive decompresses the bundle and reads the tar in it.
#include "base/checksum.hpp"
#include "base/user_cache.hpp"
#include "engine/bundle/bundle.hpp"
#include "engine/bundle/bundle_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array<unsigned char, 4> zstd_magic = {0x28, 0xb5, 0x2f, 0xfd};

struct FreeReader {
  void operator()(archive* file) const { archive_read_free(file); }
};

bool is_bundle(const std::string& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) {
    return false;
  }
  std::array<char, zstd_magic.size()> start{};
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), start.size()) &&
         std::equal(start.begin(), start.end(), zstd_magic.begin(),
                    [](char one, unsigned char other) {
                      return static_cast<unsigned char>(one) == other;
                    });
}

Error refused(const std::string& bundle, std::string message) {
  return {.kind = Error::Kind::bad_input,
          .message = std::move(message),
          .file = bundle,
          .remedy = "make the bundle again with `ptlens bundle` on the machine with the recording"};
}

// Returns whether the path is relative and stays below its start.
bool stays_inside(const fs::path& name) {
  return !name.empty() && name.is_relative() &&
         std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
}

using Checksums = std::map<std::string, std::string>; // by member

Result<void> unpack_entry(archive* file, archive_entry* entry, const std::string& bundle,
                          const fs::path& folder, std::uint64_t& room, Checksums& checksums) {
  const char* const name = archive_entry_pathname(entry);
  if (archive_entry_filetype(entry) == AE_IFDIR) {
    return {};
  }
  if (name == nullptr || archive_entry_filetype(entry) != AE_IFREG || !stays_inside(name) ||
      archive_entry_hardlink(entry) != nullptr) {
    return std::unexpected(
        refused(bundle, fmt::format("holds an entry that is no file below it: {}",
                                    name == nullptr ? "without a name" : name)));
  }
  const fs::path path = folder / name;
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  std::ofstream output(path, std::ios::binary | std::ios::trunc);
  std::vector<char> piece(std::size_t{1} << 20);
  RunningChecksum sum;
  while (output) {
    const la_ssize_t size = archive_read_data(file, piece.data(), piece.size());
    if (size < 0) {
      return std::unexpected(
          refused(bundle, fmt::format("{}: {}", name, archive_error_string(file))));
    }
    if (size == 0) {
      break;
    }
    if (static_cast<std::uint64_t>(size) > room) {
      return std::unexpected(Error{.message = "the disk has no space for its contents",
                                   .file = bundle,
                                   .remedy = "free some space in " + folder.string()});
    }
    room -= static_cast<std::uint64_t>(size);
    sum.add(std::as_bytes(std::span(piece).first(static_cast<std::size_t>(size))));
    output.write(piece.data(), size);
  }
  output.flush();
  checksums[fs::path(name).lexically_normal()] = fmt::format("{:016x}", sum.value());
  return output ? Result<void>{}
                : std::unexpected(
                      Error{.message = "the file cannot be written",
                            .file = path.string(),
                            .remedy = "check the permissions and the free space of the folder"});
}

// Checks the unpacked members against the list.
Result<void> check_members(const std::string& bundle, const fs::path& folder,
                           const Checksums& found) {
  std::ifstream file(folder / bundle_list);
  const Json list = Json::parse(file, nullptr, false);
  if (!list.is_object() || !list.contains("bundle") || !list["bundle"].is_number_integer()) {
    return std::unexpected(refused(bundle, fmt::format("its {} is damaged", bundle_list)));
  }
  const int version = list["bundle"].get<int>();
  if (version != bundle_version) {
    return std::unexpected(
        Error{.kind = Error::Kind::unsupported,
              .message = fmt::format("the bundle has the unknown version {}", version),
              .file = bundle,
              .remedy = "open it with the ptlens that made it"});
  }
  if (!list.contains("checksums") || !list["checksums"].is_object()) {
    return std::unexpected(
        refused(bundle, fmt::format("its {} contains no checksums", bundle_list)));
  }
  for (const auto& [name, sum] : list["checksums"].items()) {
    const auto member = found.find(fs::path(name).lexically_normal());
    if (member == found.end()) {
      return std::unexpected(refused(bundle, fmt::format("its member {} is missing", name)));
    }
    if (!sum.is_string() || sum.get<std::string>() != member->second) {
      return std::unexpected(
          refused(bundle, fmt::format("its member {} is damaged: its checksum differs", name)));
    }
  }
  return {};
}

Result<void> unpack(const std::string& bundle, const fs::path& folder) {
  const std::unique_ptr<archive, FreeReader> file(archive_read_new());
  constexpr std::size_t block = std::size_t{1} << 16;
  if (!file || archive_read_support_format_tar(file.get()) != ARCHIVE_OK ||
      archive_read_support_filter_zstd(file.get()) != ARCHIVE_OK ||
      archive_read_open_filename(file.get(), bundle.c_str(), block) != ARCHIVE_OK) {
    return std::unexpected(refused(bundle, "the file is not a bundle"));
  }
  std::error_code failed;
  constexpr double most = 0.9;
  auto room =
      static_cast<std::uint64_t>(most * static_cast<double>(fs::space(folder, failed).available));
  bool listed = false;
  Checksums checksums;
  for (archive_entry* entry = nullptr;;) {
    const int next = archive_read_next_header(file.get(), &entry);
    if (next == ARCHIVE_EOF) {
      break;
    }
    if (next < ARCHIVE_WARN) {
      return std::unexpected(
          refused(bundle, fmt::format("is damaged: {}", archive_error_string(file.get()))));
    }
    if (auto done = unpack_entry(file.get(), entry, bundle, folder, room, checksums); !done) {
      return done;
    }
    listed |= std::string_view(archive_entry_pathname(entry)) == bundle_list;
  }
  return listed ? check_members(bundle, folder, checksums)
                : std::unexpected(refused(bundle, fmt::format("it contains no {}", bundle_list)));
}

// Removes unpacked bundles that were not opened for a month.
void remove_old(const fs::path& folder) {
  std::error_code failed;
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    std::error_code ignored;
    if (now - entry.last_write_time(ignored) > std::chrono::days(30) && !ignored) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

} // namespace

Result<std::string> unpacked(const std::string& recording) {
  if (!is_bundle(recording)) {
    return recording;
  }
  const std::string cache = cache_folder();
  struct stat status{};
  if (cache.empty() || ::stat(recording.c_str(), &status) != 0) {
    return std::unexpected(Error{.kind = Error::Kind::no_rights,
                                 .message = "there is no folder into which it can be unpacked",
                                 .file = recording,
                                 .remedy = "set XDG_CACHE_HOME to a folder of your own"});
  }
  std::error_code failed;
  const std::string key =
      fmt::format("{}|{}|{}|{}", fs::weakly_canonical(recording, failed).string(), status.st_size,
                  status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  const fs::path all = fs::path(cache) / "bundles";
  const fs::path folder = all / fmt::format("{:016x}", checksum(std::as_bytes(std::span(key))));
  if (fs::exists(folder / bundle_list, failed)) {
    fs::last_write_time(folder, fs::file_time_type::clock::now(), failed);
    return folder.string();
  }
  remove_old(all);
  const fs::path partial = fmt::format("{}.{}", folder.string(), ::getpid());
  fs::create_directories(partial, failed);
  if (failed) {
    return std::unexpected(Error{.kind = Error::Kind::no_rights,
                                 .message = failed.message(),
                                 .file = partial.string(),
                                 .remedy = "set XDG_CACHE_HOME to a folder of your own"});
  }
  const auto done = unpack(recording, partial);
  if (done) {
    fs::rename(partial, folder, failed); // another helper may have created it first
  }
  std::error_code ignored;
  fs::remove_all(partial, ignored);
  if (!done) {
    return std::unexpected(done.error());
  }
  return folder.string();
}

std::optional<Note> absent_sources(const std::string& recording, const SourceMap& map) {
  if (!is_bundle(recording)) {
    return std::nullopt;
  }
  const auto folder = unpacked(recording);
  if (!folder) {
    return std::nullopt;
  }
  std::ifstream file(fs::path(*folder) / bundle_list);
  const Json list = Json::parse(file, nullptr, false);
  if (!list.is_object() || !list.contains("source_root") || !list["source_root"].is_string()) {
    return std::nullopt;
  }
  const auto root = list["source_root"].get<std::string>();
  std::error_code ignored;
  if (root.empty() || fs::exists(mapped_path(map, root), ignored)) {
    return std::nullopt;
  }
  return make_note(
      "absent_sources",
      "the sources were in {0} on the recorded machine, which does not exist here: give "
      "their folder with --source-map {0}=FOLDER (ptlens.sourceMap in the editor)",
      root);
}

} // namespace ptlens::engine
