// libarchive writes the bundle as a tar (pax) that is compressed with zstd.
#include "engine/bundle/bundle.hpp"

#include "base/checksum.hpp"
#include "engine/bundle/bundle_list.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "record/processes/process_maps.hpp"
#include "record/vdso.hpp"
#include "symbols/elf/build_id.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sys/stat.h>
#include <system_error>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct FreeWriter {
  void operator()(archive* file) const { archive_write_free(file); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

Error error_of(archive* file, const std::string& path, const std::string& remedy) {
  const char* const said = archive_error_string(file);
  return {.message = said == nullptr ? "the file cannot be read or written" : said,
          .file = path,
          .remedy = remedy};
}

// Writes a temporary file in the folder of the output, and renames it when it is complete.
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
                                   .message = "the file cannot be read",
                                   .file = source,
                                   .remedy = "check its permissions"});
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    RunningChecksum sum;
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
            Error{.message = "the file became shorter while it was read", .file = source});
      }
      if (auto written = write(std::span(piece).first(wanted)); !written) {
        return std::unexpected(written.error());
      }
      sum.add(std::as_bytes(std::span(piece).first(wanted)));
      left -= wanted;
    }
    checksums_[name] = fmt::format("{:016x}", sum.value());
    return size;
  }

  Result<void> add_text(const std::string& name, const std::string& text) {
    if (auto begun = begin(name, text.size()); !begun) {
      return begun;
    }
    return write(text);
  }

  [[nodiscard]] const std::map<std::string, std::string>& checksums() const { return checksums_; }

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
  std::map<std::string, std::string> checksums_; // of members, by name
};

// Returns the files of the recording itself, by their names in the folder.
std::vector<std::pair<std::string, std::string>> own_files(const std::string& recording,
                                                           const std::string& data) {
  std::vector<std::pair<std::string, std::string>> files;
  std::error_code ignored;
  const fs::path folder = fs::path(data).parent_path();
  const bool of_perf =
      fs::path(data).filename() == "data" && fs::exists(folder / "kcore_dir", ignored);
  if (fs::is_directory(data, ignored)) { // of uftrace
    for (fs::directory_iterator at(data, ignored), end; !ignored && at != end;
         at.increment(ignored)) {
      std::error_code failed;
      if (at->is_regular_file(failed)) {
        const std::string name = at->path().filename().string();
        files.emplace_back(fmt::format("{}/{}", record::uftrace_name, name), at->path());
      }
    }
    std::ranges::sort(files);
  } else {
    files.emplace_back(of_perf ? "perf.data/data" : "perf.data", data);
  }
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

// Returns the innermost folder that contains all sources of the program that exist here.
std::string source_root(const LoadedRecording& loaded, const std::vector<BundledFile>& binaries) {
  std::set<fs::path> folders;
  for (const BundledFile& file : binaries) {
    if (record::is_system_file(file.path)) {
      continue;
    }
    const auto binary = loaded.store->find(file.path, {});
    for (const symbols::Function& function :
         binary ? binary->functions() : std::span<const symbols::Function>()) {
      if (function.file.starts_with('/') && !function.file.starts_with("/usr/")) {
        folders.insert(fs::path(function.file).parent_path());
      }
    }
  }
  std::error_code ignored;
  std::erase_if(folders, [&](const fs::path& folder) { return !fs::exists(folder, ignored); });
  fs::path root = folders.empty() ? fs::path() : *folders.begin();
  for (const fs::path& folder : folders) {
    fs::path common;
    for (auto one = root.begin(), other = folder.begin();
         one != root.end() && other != folder.end() && *one == *other; ++one, ++other) {
      common /= *one;
    }
    root = common;
  }
  return root == "/" ? std::string() : root.string();
}

std::string list_text(const Bundle& bundle, const LoadedRecording& loaded,
                      const std::map<std::string, std::string>& checksums) {
  Json files = Json::array();
  for (const BundledFile& file : bundle.files) {
    files.push_back({{"path", file.path}, {"build_id", file.build_id}, {"bytes", file.bytes}});
  }
  const Json list = {{"bundle", bundle_version},
                     {"recording", fs::path(loaded.path).filename().string()},
                     {"hostname", loaded.recording.hostname()},
                     {"files", std::move(files)},
                     {"checksums", checksums},
                     {"source_root", bundle.source_root},
                     {"missing", bundle.missing}};
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

Result<Bundle> make_bundle(const std::string& recording, const OpenOptions& options,
                           const std::string& output, const Progress& progress) {
  std::error_code failed;
  if (fs::exists(output, failed)) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "the file exists already",
                                 .file = output,
                                 .remedy = "choose another file, or remove this one"});
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
  bundle.source_root = source_root(*loaded, collected.binaries);
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
  if (auto added = writer->add_text(bundle_list, list_text(bundle, *loaded, writer->checksums()));
      !added) {
    return std::unexpected(added.error());
  }
  if (auto closed = writer->close(); !closed) {
    return std::unexpected(closed.error());
  }
  bundle.bytes = fs::file_size(output, failed);
  return bundle;
}

} // namespace ptlens::engine
