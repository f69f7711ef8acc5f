// The parts of a measurement other than its calls are stored as CBOR.
#include "engine/cache/cached_calls.hpp"

#include "base/checksum.hpp"
#include "cache/writing/output.hpp"
#include "engine/cache/cache_key.hpp"
#include "engine/cache/cache_location.hpp"
#include "perfdata/bytes/mapped_file.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

namespace ptlens::engine {
namespace {

using Json = nlohmann::json;

Json json_of(const measure::RecordingInfo& info) {
  Json notes = Json::array();
  for (const Note& note : info.notes) {
    notes.push_back(Json::array({note.code, note.text, note.arguments}));
  }
  Json missing = Json::array();
  for (const measure::MissingCode& code : info.missing) {
    missing.push_back(Json::array({code.path, code.build_id, code.reason}));
  }
  Json lost = Json::array();
  for (const measure::LostInterval& each : info.lost) {
    lost.push_back(Json::array({each.begin, each.end, each.lost_ns}));
  }
  return {{"backend", info.backend},
          {"trace_ns", info.trace_ns},
          {"lost", std::move(lost)},
          {"lost_ns", info.lost_ns},
          {"gaps", info.gaps},
          {"decode_errors", info.decode_errors},
          {"trace_bytes", info.trace_bytes},
          {"lost_records", info.lost_records},
          {"slowdown", info.slowdown},
          {"bursts", info.bursts},
          {"resolution_ns", info.uncertainty_ns ? Json(*info.uncertainty_ns) : Json()},
          {"off_cpu_known", info.off_cpu_known},
          {"notes", std::move(notes)},
          {"missing", std::move(missing)}};
}

// Reads fields of an object of unknown shape. A missing field or a wrong type makes good() false.
class Reader {
public:
  explicit Reader(const Json& object) : object_(object) {}

  template <class T>
  void read(const char* name, T& value) {
    const Json* const field = find(name);
    if constexpr (std::is_same_v<T, bool>) {
      if (field != nullptr && field->is_boolean()) {
        value = field->get<bool>();
        return;
      }
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (field != nullptr && field->is_string()) {
        value = field->get<std::string>();
        return;
      }
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      if (field != nullptr && all_strings(*field)) {
        value = field->get<std::vector<std::string>>();
        return;
      }
    } else if constexpr (std::is_same_v<T, double>) {
      if (field != nullptr && field->is_number()) {
        value = field->get<double>();
        return;
      }
    } else if (field != nullptr && field->is_number_unsigned()) {
      value = field->get<T>();
      return;
    }
    good_ = false;
  }

  [[nodiscard]] const Json* find(const char* name) const {
    if (!object_.is_object()) {
      return nullptr;
    }
    const auto at = object_.find(name);
    return at == object_.end() ? nullptr : &*at;
  }
  [[nodiscard]] static bool all_strings(const Json& list) {
    return list.is_array() &&
           std::ranges::all_of(list, [](const Json& each) { return each.is_string(); });
  }
  void refuse() { good_ = false; }
  [[nodiscard]] bool good() const { return good_; }

private:
  const Json& object_;
  bool good_ = true;
};

std::optional<measure::RecordingInfo> info_of(const Json& json) {
  measure::RecordingInfo info;
  Reader reader(json);
  reader.read("backend", info.backend);
  reader.read("trace_ns", info.trace_ns);
  reader.read("lost_ns", info.lost_ns);
  reader.read("gaps", info.gaps);
  reader.read("decode_errors", info.decode_errors);
  reader.read("trace_bytes", info.trace_bytes);
  reader.read("lost_records", info.lost_records);
  reader.read("slowdown", info.slowdown);
  reader.read("bursts", info.bursts);
  reader.read("off_cpu_known", info.off_cpu_known);
  if (const Json* const field = reader.find("resolution_ns");
      field != nullptr && !field->is_null()) {
    reader.read("resolution_ns", info.uncertainty_ns.emplace());
  }
  const Json* const notes = reader.find("notes");
  if (notes == nullptr || !notes->is_array()) {
    return std::nullopt;
  }
  for (const Json& each : *notes) {
    if (!each.is_array() || each.size() != 3 || !each[0].is_string() || !each[1].is_string() ||
        !Reader::all_strings(each[2])) {
      return std::nullopt;
    }
    info.notes.push_back({.code = each[0].get<std::string>(),
                          .arguments = each[2].get<std::vector<std::string>>(),
                          .text = each[1].get<std::string>()});
  }
  const Json* const lost = reader.find("lost");
  if (lost == nullptr || !lost->is_array()) {
    return std::nullopt;
  }
  for (const Json& each : *lost) {
    if (!each.is_array() || each.size() != 3 ||
        !std::ranges::all_of(each, &Json::is_number_unsigned)) {
      return std::nullopt;
    }
    info.lost.push_back({.begin = each[0].get<std::uint64_t>(),
                         .end = each[1].get<std::uint64_t>(),
                         .lost_ns = each[2].get<std::uint64_t>()});
  }
  const Json* const missing = reader.find("missing");
  if (missing == nullptr || !missing->is_array()) {
    return std::nullopt;
  }
  for (const Json& each : *missing) {
    if (!Reader::all_strings(each) || each.size() != 3) {
      return std::nullopt;
    }
    info.missing.push_back({.path = each[0].get<std::string>(),
                            .build_id = each[1].get<std::string>(),
                            .reason = each[2].get<std::string>()});
  }
  return reader.good() ? std::optional(std::move(info)) : std::nullopt;
}

// Reads functions in ascending order.
bool read_functions(const Json& json, const char* name,
                    std::vector<stacks::FunctionId>& functions) {
  const auto list = json.find(name);
  if (list == json.end() || !list->is_array() ||
      !std::ranges::all_of(*list, [](const Json& each) { return each.is_number_unsigned(); })) {
    return false;
  }
  for (const Json& each : *list) {
    functions.push_back(stacks::FunctionId{each.get<std::uint32_t>()});
  }
  return std::ranges::is_sorted(functions);
}

Json function_list(const std::vector<stacks::FunctionId>& functions) {
  Json list = Json::array();
  for (const stacks::FunctionId function : functions) {
    list.push_back(index_of(function));
  }
  return list;
}

std::string cbor(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

// Reads a file of one CBOR object: {"of": hash of the cache's key, "names": [...], "hash": of the
// names}.
std::optional<std::vector<std::string>> read_names(const std::string& path, std::string_view key) {
  const auto file = perfdata::MappedFile::open(path);
  if (!file) {
    return std::nullopt;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()),
                               file->bytes().size());
  const Json json = Json::from_cbor(bytes.begin(), bytes.end(), true, false);
  Reader reader(json);
  std::uint64_t of = 0;
  std::uint64_t hash = 0;
  std::vector<std::string> names;
  reader.read("of", of);
  reader.read("hash", hash);
  reader.read("names", names);
  if (!reader.good() || of != checksum(key) || hash != checksum(cbor(Json(names)))) {
    return std::nullopt;
  }
  return names;
}

} // namespace

std::optional<CachedMeasurement> open_cached(const std::string& recording, const std::string& data,
                                             const OpenOptions& options) {
  for (const std::string& path : cache_locations(recording, data, options)) {
    auto calls = cache::CallCache::open(path);
    if (!calls || !mismatch((*calls)->key(), recording, data, options).empty()) {
      continue;
    }
    cache::Description description = (*calls)->take_description();
    const Json more = Json::from_cbor(description.more, true, false);
    auto info = info_of(more);
    if (!info) {
      continue;
    }
    CachedMeasurement cached;
    cached.path = path;
    cached.measurement.recording = std::move(*info);
    cached.measurement.recording.path = recording;
    cached.measurement.threads = std::move(description.threads);
    cached.measurement.functions = std::move(description.functions);
    cached.measurement.sites = std::move(description.sites);
    if (!read_functions(more, "self_unknown", cached.measurement.self_unknown) ||
        !read_functions(more, "self_at_most", cached.measurement.self_at_most)) {
      continue;
    }
    Reader reader(more);
    reader.read("inlined_names", cached.measurement.inlined_names);
    cached.names_known = reader.good();
    if (!cached.names_known) {
      if (auto names = read_names(path + names_suffix, (*calls)->key())) {
        cached.measurement.inlined_names = std::move(*names);
        cached.names_known = true;
      }
    }
    cached.measurement.cache = std::move(*calls);
    return cached;
  }
  return std::nullopt;
}

Result<void> finish_cache(measure::Measurement& measurement, cache::Writer& writer,
                          const std::string& key, bool names_known) {
  Json more = json_of(measurement.recording);
  more["self_unknown"] = function_list(measurement.self_unknown);
  more["self_at_most"] = function_list(measurement.self_at_most);
  if (names_known) {
    more["inlined_names"] = measurement.inlined_names;
  }
  cache::Description description{.functions = std::move(measurement.functions),
                                 .sites = std::move(measurement.sites),
                                 .threads = std::move(measurement.threads),
                                 .more = cbor(more)};
  auto calls = writer.finish(key, description);
  measurement.functions = std::move(description.functions);
  measurement.sites = std::move(description.sites);
  measurement.threads = std::move(description.threads);
  if (!calls) {
    return std::unexpected(std::move(calls.error()));
  }
  (void)(*calls)->take_description(); // the measurement owns a copy
  measurement.cache = std::move(*calls);
  if (!writer.trouble().empty()) {
    measurement.recording.notes.push_back(
        make_note("not_cached",
                  "the calls could not be written to the disk, so that every question decodes the "
                  "recording again: {}",
                  writer.trouble()));
  }
  return {};
}

void write_inlined_names(const measure::Measurement& measurement, const std::string& cache_path) {
  cache::remove_abandoned(cache_path + names_suffix);
  auto output = cache::Output::create(cache_path + names_suffix);
  if (!output) {
    return;
  }
  const std::string bytes = cbor({{"of", checksum(measurement.cache->key())},
                                  {"hash", checksum(cbor(Json(measurement.inlined_names)))},
                                  {"names", measurement.inlined_names}});
  output->append(std::as_bytes(std::span(bytes)));
  if (!output->complete().empty()) {
    [[maybe_unused]] const auto published = output->publish(); // the names can be computed again
  }
}

} // namespace ptlens::engine
