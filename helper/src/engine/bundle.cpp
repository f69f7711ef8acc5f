// Bundles: libarchive writes and reads the tar (pax) with zstd around it.
#include "engine/bundle.hpp"

#include "engine/loaded_recording.hpp"
#include "engine/store_place.hpp"
#include "record/intel_pt_backend.hpp"
#include "store/checksum.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* list_name = "bundle.json";
constexpr int bundle_version = 1;
constexpr std::array<unsigned char, 4> zstd_magic = {0x28, 0xb5, 0x2f, 0xfd};

struct FreeWriter {
  void operator()(archive* file) const { archive_write_free(file); }
};
struct FreeReader {
  void operator()(archive* file) const { archive_read_free(file); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

Error error_of(archive* file, const std::string& path, const std::string& remedy) {
  const char* const said = archive_error_string(file);
  return {.message = said == nullptr ? "cannot be read or written" : said,
          .file = path,
          .remedy = remedy};
}

// Writes to a file beside the one that is wanted, which appears once it is whole.
class Writer {
public:
  static Result<Writer> create(const std::string& path) {
    Writer writer;
    writer.path_ = path;
    writer.partial_ = path + ".partial";
    writer.file_.reset(archive_write_new());
    archive* const file = writer.file_.get();
    if (file == nullptr || archive_write_set_format_pax_restricted(file) != ARCHIVE_OK ||
        archive_write_add_filter_zstd(file) != ARCHIVE_OK ||
        archive_write_open_filename(file, writer.partial_.c_str()) != ARCHIVE_OK) {
      return std::unexpected(error_of(file, path, "name a file that may be written"));
    }
    return writer;
  }
  Writer(Writer&&) = default;
  Writer& operator=(Writer&&) = delete;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    if (file_) {
      file_.reset();
      std::error_code ignored;
      fs::remove(partial_, ignored);
    }
  }

  Result<std::uint64_t> add_file(const std::string& name, const std::string& source,
                                 const Progress& progress) {
    std::ifstream input(source, std::ios::binary);
    struct stat status{};
    if (!input || ::stat(source.c_str(), &status) != 0) {
      return std::unexpected(Error{.kind = Error::Kind::not_found,
                                   .message = "cannot be read",
                                   .file = source,
                                   .remedy = "check its rights"});
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (auto begun = begin(name, size); !begun) {
      return std::unexpected(begun.error());
    }
    std::vector<char> piece(std::size_t{1} << 20);
    for (std::uint64_t left = size; left > 0;) {
      if (progress.cancelled()) {
        return std::unexpected(
            Error{.kind = Error::Kind::cancelled, .message = "bundling was cancelled"});
      }
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size()));
      if (!input.read(piece.data(), static_cast<std::streamsize>(wanted))) {
        return std::unexpected(
            Error{.message = "became shorter while it was read", .file = source});
      }
      if (auto written = write(std::span(piece).first(wanted)); !written) {
        return std::unexpected(written.error());
      }
      left -= wanted;
    }
    return size;
  }

  Result<void> add_text(const std::string& name, const std::string& text) {
    if (auto begun = begin(name, text.size()); !begun) {
      return begun;
    }
    return write(text);
  }

  Result<void> close() {
    if (archive_write_close(file_.get()) != ARCHIVE_OK) {
      return std::unexpected(error_of(file_.get(), path_, "is the disk full?"));
    }
    file_.reset();
    std::error_code failed;
    fs::rename(partial_, path_, failed);
    if (failed) {
      return std::unexpected(Error{.message = failed.message(), .file = path_});
    }
    return {};
  }

private:
  Writer() = default;

  Result<void> begin(const std::string& name, std::uint64_t size) {
    const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
    constexpr mode_t readable = 0644;
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), readable);
    return archive_write_header(file_.get(), entry.get()) == ARCHIVE_OK
               ? Result<void>{}
               : std::unexpected(error_of(file_.get(), path_, "is the disk full?"));
  }

  Result<void> write(std::span<const char> bytes) {
    return archive_write_data(file_.get(), bytes.data(), bytes.size()) ==
                   static_cast<la_ssize_t>(bytes.size())
               ? Result<void>{}
               : std::unexpected(error_of(file_.get(), path_, "is the disk full?"));
  }

  std::unique_ptr<archive, FreeWriter> file_;
  std::string path_;
  std::string partial_;
};

// The files of the recording itself, by their names in the folder.
std::vector<std::pair<std::string, std::string>> own_files(const std::string& recording,
                                                           const std::string& data) {
  std::vector<std::pair<std::string, std::string>> files;
  std::error_code ignored;
  const fs::path folder = fs::path(data).parent_path();
  const bool of_perf =
      fs::path(data).filename() == "data" && fs::exists(folder / "kcore_dir", ignored);
  files.emplace_back(of_perf ? "perf.data/data" : "perf.data", data);
  if (of_perf) {
    for (const char* name : {"kcore", "kallsyms", "modules"}) {
      if (fs::exists(folder / "kcore_dir" / name, ignored)) {
        files.emplace_back(fmt::format("perf.data/kcore_dir/{}", name),
                           folder / "kcore_dir" / name);
      }
    }
  }
  if (fs::is_directory(recording, ignored)) {
    const fs::path manifest = fs::path(recording) / record::manifest_name;
    if (fs::exists(manifest, ignored)) {
      files.emplace_back(record::manifest_name, manifest);
    }
  }
  return files;
}

struct Collected {
  std::vector<BundledFile> binaries;
  std::vector<std::pair<std::string, std::string>> debug_files; // name in the bundle, source
  std::vector<std::string> missing;
  std::string vdso; // source
};

Collected collect(LoadedRecording& loaded) {
  Collected all;
  std::map<std::string, std::vector<std::uint8_t>> ids;
  for (const perfdata::BuildIdEntry& entry : loaded.recording.build_ids()) {
    ids[entry.path] = entry.build_id;
  }
  std::set<std::string> seen;
  for (const perfdata::Mapping& mapping : loaded.recording.mappings()) {
    if (mapping.pid == -1 || !seen.insert(mapping.path).second) {
      continue;
    }
    std::vector<std::uint8_t> id = mapping.build_id;
    if (const auto known = ids.find(mapping.path); id.empty() && known != ids.end()) {
      id = known->second;
    }
    const auto binary = loaded.store->find(mapping.path, id);
    if (!binary) {
      continue;
    }
    if (!mapping.path.starts_with('/')) {
      all.vdso = binary->path();
      continue;
    }
    all.binaries.push_back({.path = mapping.path,
                            .build_id = symbols::build_id_text(binary->build_id()),
                            .source = binary->path()});
    if (const std::string debug = binary->debug_file(); debug != binary->path()) {
      all.debug_files.emplace_back(mapping.path.substr(1) + ".debug", debug);
    }
  }
  for (const symbols::MissingBinary& missing : loaded.store->missing()) {
    if (missing.path.starts_with('/') && !missing.path.starts_with("//")) {
      all.missing.push_back(fmt::format("{}: {}", missing.path, missing.reason));
    }
  }
  return all;
}

std::string list_text(const Bundle& bundle, const LoadedRecording& loaded) {
  Json files = Json::array();
  for (const BundledFile& file : bundle.files) {
    files.push_back({{"path", file.path}, {"build_id", file.build_id}, {"bytes", file.bytes}});
  }
  const Json list = {{"bundle", bundle_version},
                     {"recording", fs::path(loaded.path).filename().string()},
                     {"hostname", loaded.recording.hostname()},
                     {"files", std::move(files)},
                     {"missing", bundle.missing}};
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

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
          .remedy = "get the bundle again from where it was made, with `ptlens bundle`"};
}

// A relative path that stays below where it starts.
bool stays_inside(const fs::path& name) {
  return !name.empty() && name.is_relative() &&
         std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
}

Result<void> unpack_entry(archive* file, archive_entry* entry, const std::string& bundle,
                          const fs::path& folder, std::uint64_t& room) {
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
      return std::unexpected(Error{.message = "there is no room for what is in it",
                                   .file = bundle,
                                   .remedy = "free some room in " + folder.string()});
    }
    room -= static_cast<std::uint64_t>(size);
    output.write(piece.data(), size);
  }
  output.flush();
  return output ? Result<void>{}
                : std::unexpected(Error{.message = "cannot be written",
                                        .file = path.string(),
                                        .remedy = "check the folder's rights and free space"});
}

Result<void> unpack(const std::string& bundle, const fs::path& folder) {
  const std::unique_ptr<archive, FreeReader> file(archive_read_new());
  constexpr std::size_t block = std::size_t{1} << 16;
  if (!file || archive_read_support_format_tar(file.get()) != ARCHIVE_OK ||
      archive_read_support_filter_zstd(file.get()) != ARCHIVE_OK ||
      archive_read_open_filename(file.get(), bundle.c_str(), block) != ARCHIVE_OK) {
    return std::unexpected(refused(bundle, "is no bundle"));
  }
  std::error_code failed;
  constexpr double most = 0.9;
  auto room =
      static_cast<std::uint64_t>(most * static_cast<double>(fs::space(folder, failed).available));
  bool listed = false;
  for (archive_entry* entry = nullptr;;) {
    const int next = archive_read_next_header(file.get(), &entry);
    if (next == ARCHIVE_EOF) {
      break;
    }
    if (next < ARCHIVE_WARN) {
      return std::unexpected(
          refused(bundle, fmt::format("is damaged: {}", archive_error_string(file.get()))));
    }
    if (auto done = unpack_entry(file.get(), entry, bundle, folder, room); !done) {
      return done;
    }
    listed |= std::string_view(archive_entry_pathname(entry)) == list_name;
  }
  return listed ? Result<void>{}
                : std::unexpected(refused(bundle, fmt::format("holds no {}", list_name)));
}

// Bundles that nobody opened for a month.
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

Result<Bundle> make_bundle(const std::string& recording, const OpenOptions& options,
                           const std::string& output, const Progress& progress) {
  std::error_code failed;
  if (fs::exists(output, failed)) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "is there already",
                                 .file = output,
                                 .remedy = "name another file, or remove this one"});
  }
  auto loaded = load(recording, options);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  const Collected collected = collect(*loaded);
  auto writer = Writer::create(output);
  if (!writer) {
    return std::unexpected(writer.error());
  }
  Bundle bundle;
  bundle.path = output;
  bundle.missing = collected.missing;
  for (const auto& [name, source] : own_files(recording, data_file(recording))) {
    if (auto added = writer->add_file(name, source, progress); !added) {
      return std::unexpected(added.error());
    }
  }
  if (!collected.vdso.empty()) {
    if (auto added = writer->add_file(record::vdso_name, collected.vdso, progress); !added) {
      return std::unexpected(added.error());
    }
  }
  for (BundledFile file : collected.binaries) {
    const auto added = writer->add_file(file.path.substr(1), file.source, progress);
    if (!added) {
      return std::unexpected(added.error());
    }
    file.bytes = *added;
    bundle.files.push_back(std::move(file));
  }
  for (const auto& [name, source] : collected.debug_files) {
    if (auto added = writer->add_file(name, source, progress); !added) {
      return std::unexpected(added.error());
    }
  }
  if (auto added = writer->add_text(list_name, list_text(bundle, *loaded)); !added) {
    return std::unexpected(added.error());
  }
  if (auto closed = writer->close(); !closed) {
    return std::unexpected(closed.error());
  }
  bundle.bytes = fs::file_size(output, failed);
  return bundle;
}

Result<std::string> unpacked(const std::string& recording) {
  if (!is_bundle(recording)) {
    return recording;
  }
  const std::string cache = cache_folder();
  struct stat status{};
  if (cache.empty() || ::stat(recording.c_str(), &status) != 0) {
    return std::unexpected(Error{.kind = Error::Kind::no_rights,
                                 .message = "there is no folder to unpack it to",
                                 .file = recording,
                                 .remedy = "set XDG_CACHE_HOME to a folder of your own"});
  }
  std::error_code failed;
  const std::string key =
      fmt::format("{}|{}|{}|{}", fs::weakly_canonical(recording, failed).string(), status.st_size,
                  status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  const fs::path all = fs::path(cache) / "bundles";
  const fs::path folder =
      all / fmt::format("{:016x}", store::checksum(std::as_bytes(std::span(key))));
  if (fs::exists(folder / list_name, failed)) {
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
    fs::rename(partial, folder, failed); // another helper may have been first
  }
  std::error_code ignored;
  fs::remove_all(partial, ignored);
  if (!done) {
    return std::unexpected(done.error());
  }
  return folder.string();
}

} // namespace ptlens::engine
