// perf.data.sources: CBOR (RFC 8949), {"version", "files": {path: {"whole", "lines"}}, "binaries":
// {path: {"build_id", "size", "changed_ns"}}}.
#include "source/measured_sources.hpp"

#include "engine/cache/cache_location.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "symbols/elf/build_id.hpp"
#include "symbols/elf/elf_file.hpp"
#include "symbols/elf/elf_image.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int version = 1;
constexpr std::int64_t tolerance_ns = 1'000'000'000; // file systems that keep no finer times
constexpr std::uint64_t most_bytes = 64U << 20U;     // of all sources together
constexpr std::uint64_t largest_kept = 64U << 20U;   // of our own file

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  return failed ? 0 : size;
}

std::string build_id_of(const std::string& path) {
  const auto file = symbols::ElfFile::open(path);
  return file ? symbols::build_id_text(symbols::read_build_id(file->elf())) : std::string();
}

Json to_json(const MeasuredSources& sources) {
  Json files = Json::object();
  for (const auto& [path, text] : sources.files) {
    files[path] = {{"whole", text.whole}, {"lines", text.lines}};
  }
  Json binaries = Json::object();
  for (const auto& [path, binary] : sources.binaries) {
    binaries[path] = {
        {"build_id", binary.build_id}, {"size", binary.size}, {"changed_ns", binary.changed_ns}};
  }
  return {{"version", version}, {"files", std::move(files)}, {"binaries", std::move(binaries)}};
}

// Whether an object has the field as an unsigned number.
bool has_number(const Json& object, const char* name) {
  return object.contains(name) && object[name].is_number_unsigned();
}

std::optional<MeasuredSources> from_json(const Json& json) {
  if (!json.is_object() || !has_number(json, "version") || json["version"] != version ||
      !json.contains("files") || !json["files"].is_object() || !json.contains("binaries") ||
      !json["binaries"].is_object()) {
    return std::nullopt;
  }
  MeasuredSources sources;
  for (const auto& [path, text] : json["files"].items()) {
    if (!text.is_object() || !has_number(text, "whole") || !text.contains("lines") ||
        !text["lines"].is_array() || !std::ranges::all_of(text["lines"], [](const Json& line) {
          return line.is_number_unsigned();
        })) {
      return std::nullopt;
    }
    sources.files[path] = {.whole = text["whole"].get<std::uint64_t>(),
                           .lines = text["lines"].get<std::vector<std::uint32_t>>()};
  }
  for (const auto& [path, binary] : json["binaries"].items()) {
    if (!binary.is_object() || !has_number(binary, "size") || !binary.contains("build_id") ||
        !binary["build_id"].is_string() || !binary.contains("changed_ns") ||
        !binary["changed_ns"].is_number_integer()) {
      return std::nullopt;
    }
    sources.binaries[path] = {.build_id = binary["build_id"].get<std::string>(),
                              .size = binary["size"].get<std::uint64_t>(),
                              .changed_ns = binary["changed_ns"].get<std::int64_t>()};
  }
  return sources;
}

MeasuredSources look(const std::string& data, const measure::Measurement& measurement) {
  MeasuredSources sources;
  std::map<std::string, std::set<std::string>> files; // by binary
  for (const stacks::FunctionInfo& function : measurement.functions) {
    files[function.binary].insert(function.file);
  }
  for (const stacks::CallSite& site : measurement.sites) {
    if (site.function < measurement.functions.size()) {
      files[measurement.functions[site.function].binary].insert(site.file);
    }
  }
  for (const measure::MissingCode& missing : measurement.recording.missing) {
    files.erase(missing.path);
  }
  const std::int64_t recorded = changed_ns(data);
  std::uint64_t bytes = 0;
  for (const auto& [binary, names] : files) {
    const std::int64_t built = binary.starts_with('/') ? changed_ns(binary) : 0;
    if (built == 0) {
      continue;
    }
    if (built > recorded + tolerance_ns) { // built anew before anyone looked
      const std::string kept = fs::path(data).parent_path().string() + binary;
      if (std::string id = build_id_of(kept); !id.empty()) {
        sources.binaries[binary] = {
            .build_id = std::move(id), .size = size_of(kept), .changed_ns = 0};
      }
      continue;
    }
    sources.binaries[binary] = {
        .build_id = build_id_of(binary), .size = size_of(binary), .changed_ns = built};
    for (const std::string& name : names) {
      const std::int64_t written = name.starts_with('/') ? changed_ns(name) : 0;
      if (written == 0 || written > built + tolerance_ns || sources.files.contains(name)) {
        continue;
      }
      bytes += size_of(name);
      if (bytes > most_bytes) {
        return sources;
      }
      sources.files[name] = text_lines(read_file(name));
    }
  }
  return sources;
}

void write(const std::string& path, const MeasuredSources& sources) {
  const std::vector<std::uint8_t> bytes = Json::to_cbor(to_json(sources));
  const std::string unfinished = path + ".new";
  {
    std::ofstream stream(unfinished, std::ios::binary | std::ios::trunc);
    stream.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    if (!stream.flush()) {
      std::error_code ignored;
      fs::remove(unfinished, ignored);
      return;
    }
  }
  std::error_code ignored;
  fs::rename(unfinished, path, ignored);
}

} // namespace

std::int64_t changed_ns(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return 0;
  }
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

bool was_replaced(const std::string& path, const MeasuredBinary& measured) {
  const std::int64_t changed = changed_ns(path);
  if (changed == 0 || (changed == measured.changed_ns && size_of(path) == measured.size)) {
    return false;
  }
  return measured.build_id.empty() || build_id_of(path) != measured.build_id;
}

MeasuredSources measured_sources(const std::string& recording,
                                 const measure::Measurement& measurement) {
  const std::string data = data_file(recording);
  const std::vector<std::string> places = sources_places(data);
  for (const std::string& place : places) {
    if (const std::uint64_t size = size_of(place); size > 0 && size <= largest_kept) {
      if (auto kept = from_json(Json::from_cbor(read_file(place), true, false))) {
        return std::move(*kept);
      }
    }
  }
  MeasuredSources sources = look(data, measurement);
  if (const std::string place = place_to_write(places); !place.empty()) {
    write(place, sources);
  }
  return sources;
}

} // namespace ptlens::engine
