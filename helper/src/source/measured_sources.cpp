// The file perf.data.sources is CBOR (RFC 8949), {"version", "files": {path: {"whole", "lines"}},
// "binaries": {path: {"build_id", "size", "changed_ns"}}}.
#include "source/measured_sources.hpp"

#include "engine/cache/cache_location.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "source/file_state.hpp"
#include "symbols/elf/build_id.hpp"
#include "symbols/elf/elf_file.hpp"
#include "symbols/elf/elf_image.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace ptlens::source {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int version = 1;
constexpr std::uint64_t most_source_bytes = 64U << 20U; // of all sources together
constexpr std::uint64_t most_file_bytes = 64U << 20U;   // of perf.data.sources itself

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
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

// Returns whether the object has the field as an unsigned number.
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

// Reads the sources and binaries that are certain to be the measured ones.
MeasuredSources read_sources(const std::string& data, const measure::Measurement& measurement) {
  MeasuredSources sources;
  std::map<std::string, std::set<std::string>> files; // by binary
  for (const stacks::FunctionInfo& function : measurement.functions) {
    files[function.binary].insert(function.file);
  }
  for (const stacks::CallSite& site : measurement.sites) {
    if (measurement.functions.has(site.function)) {
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
    if (is_later(built, recorded)) { // rebuilt before the recording was first opened
      const std::string copy = fs::path(data).parent_path().string() + binary;
      if (std::string id = build_id_of(copy); !id.empty()) {
        sources.binaries[binary] = {
            .build_id = std::move(id), .size = size_of(copy), .changed_ns = 0};
      }
      continue;
    }
    sources.binaries[binary] = {
        .build_id = build_id_of(binary), .size = size_of(binary), .changed_ns = built};
    for (const std::string& name : names) {
      const std::int64_t written = name.starts_with('/') ? changed_ns(name) : 0;
      if (written == 0 || is_later(written, built) || sources.files.contains(name)) {
        continue;
      }
      bytes += size_of(name);
      if (bytes > most_source_bytes) {
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

MeasuredSources measured_sources(const std::string& recording,
                                 const measure::Measurement& measurement) {
  const std::string data = engine::data_file(recording);
  const std::vector<std::string> locations = engine::sources_locations(data);
  for (const std::string& location : locations) {
    if (const std::uint64_t size = size_of(location); size > 0 && size <= most_file_bytes) {
      if (auto cached = from_json(Json::from_cbor(read_file(location), true, false))) {
        return std::move(*cached);
      }
    }
  }
  MeasuredSources sources = read_sources(data, measurement);
  if (const std::string location = engine::writable_location(locations); !location.empty()) {
    write(location, sources);
  }
  return sources;
}

} // namespace ptlens::source
