// The parameters of the methods under ptlens/, read from the wire.
#include "server/methods/requests.hpp"

#include "server/rpc/fields.hpp"

#include <charconv>
#include <cmath>
#include <limits>

namespace ptlens::server {

namespace {

constexpr double longest_duration_s = 86'400;
constexpr std::int64_t longest_page = 100'000;
constexpr std::int64_t last_pid = std::numeric_limits<std::int32_t>::max();

// Reads with `body` and gives what it filled, or the first bad field.
template <class T, class Body>
Read<T> read_with(const Input& params, Body body) {
  std::optional<Fault> fault;
  T request{};
  body(Fields(params, "", fault), request);
  if (fault) {
    return std::unexpected(std::move(*fault));
  }
  return request;
}

std::uint64_t whole_ns(double ns) {
  constexpr double most = 18e18; // below 2^64
  return ns >= most ? std::numeric_limits<std::uint64_t>::max()
                    : static_cast<std::uint64_t>(std::floor(ns));
}

std::optional<measure::Interval> read_interval(const Fields& fields, const char* name) {
  std::optional<std::pair<double, double>> pair;
  fields.read_interval(name, pair);
  if (!pair) {
    return std::nullopt;
  }
  return measure::Interval{.low = whole_ns(std::ceil(pair->first)), .high = whole_ns(pair->second)};
}

void read_selection(const Fields& fields, const char* time, measure::Selection& selection) {
  selection.time = read_interval(fields, time);
  selection.latency = read_interval(fields, "latency");
  if (fields.has("tid")) {
    std::int64_t tid = 0;
    fields.read_integer("tid", tid, 0, last_pid);
    selection.tid = static_cast<std::int32_t>(tid);
  }
  if (fields.has("ancestor")) {
    const Fields ancestor = fields.child("ancestor");
    ancestor.read_name("name", selection.ancestor);
    constexpr double most = std::numeric_limits<double>::max();
    double low = 0;
    double high = most;
    ancestor.read_number("low", low, 0, most);
    ancestor.read_number("high", high, 0, most);
    if (low > high) {
      ancestor.refuse("low", "must not be above high");
    }
    selection.ancestor_latency = {.low = whole_ns(std::ceil(low)), .high = whole_ns(high)};
  }
}

void read_function(const Fields& fields, FunctionSelector& function) {
  if (!fields.has("function")) {
    fields.refuse("function", "is missing");
    return;
  }
  const Fields selector = fields.child("function");
  selector.read_name("name", function.name);
  selector.read("binary", function.binary);
  selector.read_address("address", function.address);
  selector.read("all", function.all);
}

void read_source_map(const Fields& fields, engine::SourceMap& map) {
  std::vector<std::string> pairs;
  fields.read_environment("sourceMap", pairs);
  for (const std::string& pair : pairs) {
    if (auto entry = engine::parse_source_map(pair)) {
      map.push_back(std::move(*entry));
    } else {
      fields.refuse("sourceMap", entry.error().message);
    }
  }
}

void read_recording(const Fields& fields, OpenRequest& request) {
  fields.read_name("path", request.path);
  fields.read("symfs", request.symfs);
  fields.read("kallsyms", request.kallsyms);
  fields.read("kcore", request.kcore);
  read_source_map(fields, request.source_map);
  if (fields.has("pid")) {
    std::int64_t pid = 0;
    fields.read_integer("pid", pid, 1, last_pid);
    request.pid = static_cast<std::int32_t>(pid);
  }
}

void read_target(const Fields& fields, record::Request& request) {
  if (fields.has("tid")) {
    std::int64_t tid = 0;
    fields.read_integer("tid", tid, 1, last_pid);
    request.tid = static_cast<std::int32_t>(tid);
  }
  if (fields.has("pid")) {
    std::int64_t pid = 0;
    fields.read_integer("pid", pid, 1, last_pid);
    request.pid = static_cast<std::int32_t>(pid);
  }
  if (fields.has("startTime")) {
    std::int64_t start = 0;
    fields.read_integer("startTime", start, 0, std::numeric_limits<std::int64_t>::max());
    request.start_time = static_cast<std::uint64_t>(start);
  }
  if (fields.has("program")) {
    std::string program;
    fields.read_name("program", program);
    std::vector<std::string> arguments;
    fields.read("arguments", arguments);
    request.program.push_back(std::move(program));
    request.program.insert(request.program.end(), arguments.begin(), arguments.end());
  }
  fields.read("cwd", request.working_directory);
  fields.read_environment("environment", request.environment);
  if (const auto target = record::check_target(request); !target) {
    fields.refuse("pid", "is wrong: " + target.error().message);
  }
}

} // namespace

Read<DoctorRequest> read_doctor(const Input& params) {
  return read_with<DoctorRequest>(params, [](const Fields& fields, DoctorRequest& request) {
    fields.read("perf", request.perf);
    fields.read("binary", request.binary);
  });
}

Read<std::string> read_processes(const Input& params) {
  return read_with<std::string>(
      params, [](const Fields& fields, std::string& source) { fields.read("source", source); });
}

Read<FunctionAtRequest> read_function_at(const Input& params) {
  return read_with<FunctionAtRequest>(params, [](const Fields& fields, FunctionAtRequest& request) {
    fields.read_name("file", request.file);
    std::int64_t line = 1;
    fields.read_integer("line", line, 1, last_pid, Presence::required);
    request.line = static_cast<std::uint32_t>(line);
    fields.read("name", request.name);
    if (fields.has("pid")) {
      std::int64_t pid = 0;
      fields.read_integer("pid", pid, 1, last_pid);
      request.pid = static_cast<std::int32_t>(pid);
    }
    fields.read("program", request.program);
    fields.read("symbol", request.symbol);
    std::int64_t symbol_line = 0;
    fields.read_integer("symbolLine", symbol_line, 1, last_pid);
    request.symbol_line = static_cast<std::uint32_t>(symbol_line);
  });
}

Read<std::int32_t> read_threads(const Input& params) {
  return read_with<std::int32_t>(params, [](const Fields& fields, std::int32_t& pid) {
    std::int64_t number = 0;
    fields.read_integer("pid", number, 1, last_pid, Presence::required);
    pid = static_cast<std::int32_t>(number);
  });
}

Read<BundleRequest> read_bundle(const Input& params) {
  return read_with<BundleRequest>(params, [](const Fields& fields, BundleRequest& request) {
    if (fields.has("id") == fields.has("path")) {
      fields.refuse("id", "or path must be given, and not both");
    }
    if (fields.has("id")) {
      fields.read_name("id", request.id);
    } else {
      read_recording(fields, request.recording);
    }
    fields.read_name("output", request.output);
  });
}

Read<RecordRequest> read_record(const Input& params) {
  return read_with<RecordRequest>(params, [](const Fields& fields, RecordRequest& request) {
    record::Request& wanted = request.request;
    read_target(fields, wanted);
    if (fields.has("function")) {
      FunctionSelector function;
      read_function(fields, function);
      wanted.function = function.name;
      wanted.binary = function.binary;
      wanted.address = function.address;
      wanted.all = function.all;
    }
    fields.read_number("duration", wanted.duration_s, 0, longest_duration_s);
    fields.read_word("backend", wanted.backend, {"auto", "intel_pt", "uprobe"});
    fields.read("perf", wanted.perf);
    fields.read("output", wanted.output);
    fields.read("folder", request.folder);
    fields.read("filter", wanted.filter);
    fields.read("snapshot", wanted.snapshot);
    constexpr std::int64_t longest_call = 86'400'000'000'000;
    std::int64_t slower_than = 0;
    fields.read_integer("slowerThan", slower_than, 1, longest_call);
    wanted.slower_than_ns = static_cast<std::uint64_t>(slower_than);
    read_source_map(fields, request.source_map);
    fields.read("kernel", wanted.kernel);
    fields.read("symfs", request.symfs);
  });
}

Read<OpenRequest> read_open(const Input& params) {
  return read_with<OpenRequest>(params, [](const Fields& fields, OpenRequest& request) {
    read_recording(fields, request);
    fields.read("activate", request.activate);
    if (fields.has("function")) {
      read_function(fields, request.function);
    }
  });
}

Read<ActivateRequest> read_activate(const Input& params) {
  return read_with<ActivateRequest>(params, [](const Fields& fields, ActivateRequest& request) {
    fields.read("id", request.id);
    fields.read("baseline", request.baseline);
  });
}

Read<StoreRequest> read_store(const Input& params) {
  return read_with<StoreRequest>(params, [](const Fields& fields, StoreRequest& request) {
    read_recording(fields, request.recording);
    fields.read("remove", request.remove);
  });
}

Read<std::string> read_id(const Input& params) {
  return read_with<std::string>(
      params, [](const Fields& fields, std::string& id) { fields.read_name("id", id); });
}

Read<ReportRequest> read_report(const Input& params) {
  return read_with<ReportRequest>(params, [](const Fields& fields, ReportRequest& request) {
    fields.read_name("id", request.id);
    read_function(fields, request.function);
    read_selection(fields, "time", request.selection);
    fields.read("inlined", request.inlined);
  });
}

Read<LinesRequest> read_lines(const Input& params) {
  return read_with<LinesRequest>(params, [](const Fields& fields, LinesRequest& request) {
    fields.read_name("id", request.id);
    fields.read_name("file", request.file);
  });
}

Read<FlameRequest> read_flame(const Input& params) {
  return read_with<FlameRequest>(params, [](const Fields& fields, FlameRequest& request) {
    fields.read_name("id", request.id);
    if (fields.has("function")) {
      read_function(fields, request.function.emplace());
    }
    std::string time = "wall";
    fields.read_word("time", time, {"wall", "on", "off"});
    request.time = time == "on"    ? measure::FlameTime::on_cpu
                   : time == "off" ? measure::FlameTime::off_cpu
                                   : measure::FlameTime::wall;
    fields.read_number("smallest", request.smallest, 0, 1);
    read_selection(fields, "timeRange", request.selection);
  });
}

Read<CallsRequest> read_calls(const Input& params) {
  return read_with<CallsRequest>(params, [](const Fields& fields, CallsRequest& request) {
    fields.read_name("id", request.id);
    read_function(fields, request.function);
    read_selection(fields, "time", request.selection);
    std::int64_t offset = 0;
    auto limit = static_cast<std::int64_t>(request.limit);
    fields.read_integer("offset", offset, 0, std::numeric_limits<std::int64_t>::max());
    fields.read_integer("limit", limit, 1, longest_page);
    request.offset = static_cast<std::uint64_t>(offset);
    request.limit = static_cast<std::uint64_t>(limit);
  });
}

Read<AnnotationsRequest> read_annotations(const Input& params) {
  return read_with<AnnotationsRequest>(params,
                                       [](const Fields& fields, AnnotationsRequest& request) {
                                         fields.read_name("file", request.file);
                                         fields.read("heat", request.heat);
                                         std::int64_t first = request.first;
                                         std::int64_t last = request.last;
                                         fields.read_integer("first", first, 1, UINT32_MAX);
                                         fields.read_integer("last", last, 1, UINT32_MAX);
                                         request.first = static_cast<std::uint32_t>(first);
                                         request.last = static_cast<std::uint32_t>(last);
                                       });
}

Read<PresentLineRequest> read_present_line(const Input& params) {
  return read_with<PresentLineRequest>(
      params, [](const Fields& fields, PresentLineRequest& request) {
        fields.read_name("recorded", request.recorded);
        fields.read_name("file", request.file);
        std::int64_t line = 1;
        fields.read_integer("line", line, 1, UINT32_MAX, Presence::required);
        request.line = static_cast<std::uint32_t>(line);
      });
}

Read<AnnotationsRequest> read_inlay_range(const Input& params) {
  return read_with<AnnotationsRequest>(
      params, [](const Fields& fields, AnnotationsRequest& request) {
        std::string uri;
        fields.child("textDocument").read_name("uri", uri);
        request.file = path_of_uri(uri);
        const Fields range = fields.child("range");
        std::int64_t first = 0;
        std::int64_t last = last_pid - 1;
        range.child("start").read_integer("line", first, 0, last_pid - 1);
        range.child("end").read_integer("line", last, 0, last_pid - 1);
        request.first = static_cast<std::uint32_t>(first) + 1;
        request.last = static_cast<std::uint32_t>(last) + 1;
      });
}

Read<Place> read_place(const Input& params, bool has_position) {
  return read_with<Place>(params, [has_position](const Fields& fields, Place& place) {
    std::string uri;
    fields.child("textDocument").read_name("uri", uri);
    place.file = path_of_uri(uri);
    if (has_position) {
      std::int64_t line = 0;
      fields.child("position").read_integer("line", line, 0, last_pid - 1, Presence::required);
      place.line = static_cast<std::uint32_t>(line) + 1;
    }
  });
}

std::string path_of_uri(const std::string& uri) {
  std::size_t begin = 0;
  if (const auto scheme = uri.find("://"); scheme != std::string::npos) {
    begin = uri.find('/', scheme + 3);
    if (begin == std::string::npos) {
      return {};
    }
  }
  std::string path;
  for (std::size_t at = begin; at < uri.size(); ++at) {
    if (uri[at] == '%' && at + 2 < uri.size()) {
      unsigned byte = 0;
      const char* const end = uri.data() + at + 3;
      const auto [last, error] = std::from_chars(uri.data() + at + 1, end, byte, 16);
      if (error == std::errc{} && last == end && byte != 0) {
        path += static_cast<char>(byte);
        at += 2;
        continue;
      }
    }
    path += uri[at];
  }
  return path;
}

} // namespace ptlens::server
