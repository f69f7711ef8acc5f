// The JSON form of a manifest. Addresses are "0x..." strings, as in all JSON of the helper. Strings
// that are not UTF-8 are written with replacement characters.
#include "record/manifest.hpp"

#include "base/words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <utility>

namespace ptlens::record {
namespace {

using nlohmann::json;

constexpr std::uint64_t format_version = 3;
constexpr std::uint64_t largest_manifest = std::uint64_t{64} << 20; // bytes

std::string hex(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

constexpr Word<Probe::Kind> kind_words[] = {{Probe::Kind::entry, "entry"},
                                            {Probe::Kind::exit, "exit"},
                                            {Probe::Kind::returned, "returned"},
                                            {Probe::Kind::restart, "restart"},
                                            {Probe::Kind::goroutine_end, "goroutine_end"}};

json to_json(const Note& note) {
  return {{"code", note.code}, {"arguments", note.arguments}, {"text", note.text}};
}

json to_json(const Interval& interval) {
  return {{"begin_ns", interval.begin_ns}, {"end_ns", interval.end_ns}};
}

json to_json(const KernelSymbol& symbol) {
  return {{"address", hex(symbol.address)}, {"name", symbol.name}};
}

json to_json(const Probe& probe) {
  return {{"kind", word_of(kind_words, probe.kind)},
          {"event_id", probe.event_id},
          {"binary", probe.binary},
          {"function", hex(probe.function)},
          {"address", hex(probe.address)},
          {"tail_call", probe.tail_call},
          {"target", probe.target},
          {"goroutine", probe.goroutine},
          {"latency_ns", probe.latency_ns},
          {"hit_ns", probe.hit_ns},
          {"uncertainty_ns", probe.uncertainty_ns},
          {"late_ns", probe.late_ns},
          {"end_ns", probe.end_ns},
          {"to_binary", probe.to_binary},
          {"to_function", hex(probe.to_function)}};
}

// Reads fields of an untrusted object and stores the name of the first one that is missing or has
// the wrong type.
class FieldReader {
public:
  explicit FieldReader(const json& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  [[nodiscard]] const std::string& bad_field() const { return bad_field_; }

  template <class Value>
  void read(const char* name, bool (json::*is_kind)() const noexcept, Value& value) {
    const auto field = object_.find(name);
    if (field == object_.end() || !((*field).*is_kind)()) {
      reject(name);
      return;
    }
    value = field->get<Value>();
  }

  void read_address(const char* name, std::uint64_t& value) {
    std::string text;
    read(name, &json::is_string, text);
    const char* const end = text.data() + text.size();
    if (!text.starts_with("0x") || std::from_chars(text.data() + 2, end, value, 16).ptr != end ||
        text.size() == 2) {
      reject(name);
    }
  }

  template <class Value>
  void read_list(const char* name, bool (json::*is_kind)() const noexcept,
                 std::vector<Value>& values) {
    const auto field = object_.find(name);
    if (field == object_.end() || !field->is_array() ||
        !std::ranges::all_of(*field, [&](const json& value) { return (value.*is_kind)(); })) {
      reject(name);
      return;
    }
    values = field->get<std::vector<Value>>();
  }

  // The same, of fields that recordings of earlier versions do not have.
  template <class Value>
  void read_if_present(const char* name, bool (json::*is_kind)() const noexcept, Value& value) {
    if (object_.contains(name)) {
      read(name, is_kind, value);
    }
  }

  template <class Value>
  void read_list_if_present(const char* name, bool (json::*is_kind)() const noexcept,
                            std::vector<Value>& values) {
    if (object_.contains(name)) {
      read_list(name, is_kind, values);
    }
  }

private:
  void reject(const char* name) {
    if (bad_field_.empty()) {
      bad_field_ = where_ + name;
    }
  }

  const json& object_;
  std::string where_;
  std::string bad_field_;
};

std::string read_probe(const json& object, const std::string& where, Probe& probe) {
  FieldReader reader(object, where + ".");
  std::string kind;
  reader.read("kind", &json::is_string, kind);
  reader.read("event_id", &json::is_number_unsigned, probe.event_id);
  reader.read("binary", &json::is_string, probe.binary);
  reader.read_address("function", probe.function);
  reader.read_address("address", probe.address);
  reader.read("tail_call", &json::is_boolean, probe.tail_call);
  reader.read("target", &json::is_boolean, probe.target);
  reader.read_if_present("goroutine", &json::is_boolean, probe.goroutine);
  reader.read_if_present("end_ns", &json::is_number_unsigned, probe.end_ns);
  reader.read("latency_ns", &json::is_number, probe.latency_ns);
  reader.read("hit_ns", &json::is_number, probe.hit_ns);
  reader.read("uncertainty_ns", &json::is_number, probe.uncertainty_ns);
  reader.read_if_present("late_ns", &json::is_number, probe.late_ns);
  reader.read("to_binary", &json::is_string, probe.to_binary);
  reader.read_address("to_function", probe.to_function);
  if (!reader.bad_field().empty()) {
    return reader.bad_field();
  }
  const auto value = value_of(kind_words, kind);
  if (!value) {
    return where + ".kind";
  }
  probe.kind = *value;
  return {};
}

std::string read_interval(const json& object, const std::string& where, Interval& interval) {
  FieldReader reader(object, where + ".");
  reader.read("begin_ns", &json::is_number_unsigned, interval.begin_ns);
  reader.read("end_ns", &json::is_number_unsigned, interval.end_ns);
  return reader.bad_field();
}

std::string read_symbol(const json& object, const std::string& where, KernelSymbol& symbol) {
  FieldReader reader(object, where + ".");
  reader.read_address("address", symbol.address);
  reader.read("name", &json::is_string, symbol.name);
  return reader.bad_field();
}

std::string read_note(const json& object, const std::string& where, Note& note) {
  FieldReader reader(object, where + ".");
  reader.read("code", &json::is_string, note.code);
  reader.read_list("arguments", &json::is_string, note.arguments);
  reader.read("text", &json::is_string, note.text);
  return reader.bad_field();
}

// Reads a list of objects. Returns the path of the first bad field, or an empty string.
template <class Value>
std::string read_objects(const json& parent, const char* name,
                         std::string (*read)(const json&, const std::string&, Value&),
                         std::vector<Value>& values) {
  const auto list = parent.find(name);
  if (list == parent.end() || !list->is_array()) {
    return name;
  }
  for (const json& element : *list) {
    const std::string where = fmt::format("{}[{}]", name, values.size());
    Value value;
    std::string bad = element.is_object() ? read(element, where, value) : where;
    if (!bad.empty()) {
      return bad;
    }
    values.push_back(std::move(value));
  }
  return {};
}

// Returns the path of the first bad field, or an empty string.
std::string read_fields(const json& object, Manifest& manifest) {
  FieldReader reader(object, "");
  reader.read("backend", &json::is_string, manifest.backend);
  reader.read("ptlens_version", &json::is_string, manifest.ptlens_version);
  reader.read("function", &json::is_string, manifest.function);
  reader.read_list_if_present("functions", &json::is_string, manifest.functions);
  reader.read("binary", &json::is_string, manifest.binary);
  reader.read("pid", &json::is_number_integer, manifest.pid);
  reader.read_list("command", &json::is_string, manifest.command);
  reader.read("duration_s", &json::is_number, manifest.duration_s);
  reader.read_list("perf_command", &json::is_string, manifest.perf_command);
  reader.read("slowdown", &json::is_number, manifest.slowdown);
  reader.read_list_if_present("private_files", &json::is_string, manifest.private_files);
  reader.read_if_present("end_ns", &json::is_number_unsigned, manifest.end_ns);
  std::string bad = reader.bad_field();
  bad = bad.empty() ? read_objects(object, "notes", read_note, manifest.notes) : bad;
  bad = bad.empty() ? read_objects(object, "probes", read_probe, manifest.probes) : bad;
  bad = bad.empty() ? read_objects(object, "measured", read_interval, manifest.measured) : bad;
  if (bad.empty() && object.contains("kernel_symbols")) { // older recordings have none
    bad = read_objects(object, "kernel_symbols", read_symbol, manifest.kernel_symbols);
    std::ranges::sort(manifest.kernel_symbols, {}, &KernelSymbol::address);
  }
  std::uint64_t last = 0;
  for (const Interval& interval : manifest.measured) {
    if (interval.begin_ns < last || interval.end_ns < interval.begin_ns) {
      return bad.empty() ? "measured" : bad;
    }
    last = interval.end_ns;
  }
  return bad;
}

template <class Value>
json to_json(const std::vector<Value>& values) {
  json list = json::array();
  for (const Value& value : values) {
    list.push_back(to_json(value));
  }
  return list;
}

Error bad_manifest(const std::string& path, std::string message) {
  return Error{.kind = Error::Kind::bad_input,
               .message = std::move(message),
               .file = path,
               .remedy = "record again"};
}

} // namespace

Result<void> write_manifest(const std::string& directory, const Manifest& manifest) {
  const json object = {{"format", "ptlens-manifest"},
                       {"version", format_version},
                       {"backend", manifest.backend},
                       {"ptlens_version", manifest.ptlens_version},
                       {"function", manifest.function},
                       {"functions", manifest.functions},
                       {"binary", manifest.binary},
                       {"pid", manifest.pid},
                       {"command", manifest.command},
                       {"duration_s", manifest.duration_s},
                       {"perf_command", manifest.perf_command},
                       {"private_files", manifest.private_files},
                       {"kernel_symbols", to_json(manifest.kernel_symbols)},
                       {"notes", to_json(manifest.notes)},
                       {"probes", to_json(manifest.probes)},
                       {"measured", to_json(manifest.measured)},
                       {"end_ns", manifest.end_ns},
                       {"slowdown", manifest.slowdown}};
  const std::string path = directory + "/" + manifest_name;
  const std::string temporary = path + ".new";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << object.dump(1, ' ', false, json::error_handler_t::replace) << '\n';
    file.flush();
    if (!file) {
      return std::unexpected(Error{.kind = Error::Kind::failed,
                                   .message = "the file cannot be written",
                                   .file = temporary,
                                   .remedy = "check the folder's permissions and free space"});
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return std::unexpected(Error{.kind = Error::Kind::failed,
                                 .message = "the file cannot be replaced",
                                 .file = path,
                                 .remedy = "check the folder's permissions"});
  }
  return {};
}

Result<Manifest> read_manifest(const std::string& directory) {
  const std::string path = directory + "/" + manifest_name;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = "the file cannot be opened",
                                 .file = path,
                                 .remedy = "name a directory written by `ptlens record`"});
  }
  const std::streamoff size = file.tellg();
  if (size < 0 || static_cast<std::uint64_t>(size) > largest_manifest) {
    return std::unexpected(bad_manifest(path, "the file is too large for a manifest"));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  file.read(text.data(), size);
  // A first pass bounds the nesting: the parser below recurses when it destroys its value.
  constexpr int deepest = 16;
  const json object = json::parse(
      text, [](int depth, json::parse_event_t, json&) { return depth <= deepest; }, false);
  if (object.is_discarded() || !object.is_object()) {
    return std::unexpected(bad_manifest(path, "the file is not a JSON object"));
  }
  const auto version = object.find("version");
  if (version == object.end() || !version->is_number_unsigned()) {
    return std::unexpected(
        bad_manifest(path, "the field version is missing or has the wrong type"));
  }
  if (version->get<std::uint64_t>() != format_version) {
    return std::unexpected(Error{
        .kind = Error::Kind::unsupported,
        .message = fmt::format("the manifest has version {}, and this ptlens reads version {}",
                               version->get<std::uint64_t>(), format_version),
        .file = path,
        .remedy = "record again, or open it with the ptlens that recorded it"});
  }
  Manifest manifest;
  const std::string bad = read_fields(object, manifest);
  if (!bad.empty()) {
    return std::unexpected(
        bad_manifest(path, fmt::format("the field {} is missing or has the wrong type", bad)));
  }
  return manifest;
}

} // namespace ptlens::record
