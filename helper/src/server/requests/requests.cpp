// Conversion of parameters to requests, with the rules that the schema cannot express.
#include "server/requests/requests.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ptlens::server {

namespace {

std::unexpected<protocol::BadField> bad(std::string path, const std::string& what) {
  return std::unexpected(protocol::bad_field(std::move(path), what));
}

std::uint64_t whole_ns(double ns) {
  constexpr double most = 18e18; // below 2^64
  return ns >= most ? std::numeric_limits<std::uint64_t>::max()
                    : static_cast<std::uint64_t>(std::floor(ns));
}

// Returns the whole nanoseconds from low to high, both included.
measure::Interval whole_interval(std::optional<double> low, std::optional<double> high) {
  return {.low = whole_ns(std::ceil(low.value_or(0))),
          .high = high ? whole_ns(*high) : std::numeric_limits<std::uint64_t>::max()};
}

// Converts the selection that ReportParams, FlameParams and CallsParams share.
Read<measure::Selection> to_selection(const std::optional<protocol::Selection>& params) {
  measure::Selection selection;
  if (!params) {
    return selection;
  }
  if (params->time) {
    selection.time = whole_interval(params->time->low, params->time->high);
  }
  if (params->latency) {
    if (params->latency->high == 0) {
      return bad("selection.latency", "accepts no call: it must end above 0");
    }
    const auto high = params->latency->high;
    selection.latency = whole_interval(params->latency->low,
                                       high ? std::optional(std::ceil(*high) - 1) : std::nullopt);
  }
  if (!params->tids.empty()) {
    selection.tid = params->tids.front();
  }
  if (!params->ancestors.empty()) {
    const protocol::AncestorCondition& ancestor = params->ancestors.front();
    if (ancestor.high && ancestor.low >= *ancestor.high) {
      return bad("selection.ancestors", "must have a low below high");
    }
    selection.ancestor = ancestor.function;
    selection.ancestor_latency = whole_interval(
        ancestor.low, ancestor.high ? std::optional(std::ceil(*ancestor.high) - 1) : std::nullopt);
  }
  if (params->tids.size() > 1 || params->ancestors.size() > 1 || !params->not_tids.empty() ||
      !params->callers.empty() || !params->calls.empty() || !params->waited.empty() ||
      !params->states.empty() || params->complement) {
    return bad("selection", "may only have latency, time, one of tids and one of ancestors");
  }
  return selection;
}

Read<engine::SourceMap> to_source_map(const std::map<std::string, std::string>& folders) {
  engine::SourceMap map;
  for (const auto& [recorded, present] : folders) {
    auto entry = engine::parse_source_map(fmt::format("{}={}", recorded, present));
    if (!entry) {
      return bad("source_map", entry.error().message);
    }
    map.push_back(std::move(*entry));
  }
  return map;
}

// Converts the fields that name a recording: those of OpenParams, CacheParams and BundleParams.
template <class Parameters>
Read<OpenRequest> to_recording(const Parameters& params, std::string path) {
  auto source_map = to_source_map(params.source_map);
  if (!source_map) {
    return std::unexpected(std::move(source_map.error()));
  }
  return OpenRequest{.path = std::move(path),
                     .symfs = params.symfs,
                     .kallsyms = params.kallsyms,
                     .kcore = params.kcore,
                     .pid = params.pid,
                     .source_map = std::move(*source_map)};
}

Read<std::vector<std::string>> to_environment(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) {
    if (name.empty() || name.find('=') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      return bad("environment", "must have names without '=' and NUL");
    }
    environment.push_back(fmt::format("{}={}", name, value));
  }
  return environment;
}

} // namespace

Read<RecordRequest> to_request(protocol::RecordParams params) {
  if (params.program && params.program->empty()) {
    return bad("program", "must not be empty");
  }
  auto environment = to_environment(params.environment);
  if (!environment) {
    return std::unexpected(std::move(environment.error()));
  }
  auto source_map = to_source_map(params.source_map);
  if (!source_map) {
    return std::unexpected(std::move(source_map.error()));
  }
  RecordRequest converted{.request = {},
                          .folder = std::move(params.folder),
                          .symfs = std::move(params.symfs),
                          .source_map = std::move(*source_map)};
  record::Request& request = converted.request;
  request.pid = params.pid;
  request.tid = params.tid;
  request.start_time = params.start_time;
  if (params.program) {
    request.program.push_back(std::move(*params.program));
    request.program.insert(request.program.end(), params.arguments.begin(), params.arguments.end());
  }
  if (const auto target = record::check_target(request); !target) {
    return bad("pid", "is wrong: " + target.error().message);
  }
  request.working_directory = std::move(params.cwd);
  request.environment = std::move(*environment);
  if (params.function) {
    params.functions.insert(params.functions.begin(), std::move(*params.function));
  }
  std::vector<record::WantedFunction> functions;
  for (FunctionSelector& wanted : params.functions) {
    functions.push_back({.name = std::move(wanted.name),
                         .binary = std::move(wanted.binary),
                         .address = wanted.address,
                         .all = wanted.all,
                         .origin = {.build_id = std::move(wanted.build_id),
                                    .linkage_name = std::move(wanted.linkage_name),
                                    .file = std::move(wanted.file),
                                    .line = static_cast<std::uint32_t>(wanted.line)}});
  }
  request.set_functions(std::move(functions));
  request.duration_s = params.duration;
  request.backend = protocol::name_of(params.backend);
  request.perf = std::move(params.perf);
  request.output = std::move(params.output);
  request.filter = params.filter;
  request.snapshot = params.snapshot;
  request.budget = params.budget;
  request.returns = std::move(params.returns);
  request.callees = std::move(params.callees);
  request.slower_than_ns = params.slower_than.value_or(0);
  request.kernel = params.kernel;
  return converted;
}

Read<OpenRequest> to_request(protocol::OpenParams params) {
  auto request = to_recording(params, params.path);
  if (request) {
    request->activate = params.activate;
    request->function = std::move(params.function).value_or(FunctionSelector{});
  }
  return request;
}

Read<BundleRequest> to_request(protocol::BundleParams params) {
  if (params.id.has_value() == params.path.has_value()) {
    return bad("id", "or path must be given, and only one of them");
  }
  auto recording = to_recording(params, params.path.value_or(""));
  if (!recording) {
    return std::unexpected(std::move(recording.error()));
  }
  return BundleRequest{.id = params.id.value_or(""),
                       .recording = std::move(*recording),
                       .output = std::move(params.output)};
}

Read<CacheRequest> to_request(protocol::CacheParams params) {
  auto recording = to_recording(params, params.path);
  if (!recording) {
    return std::unexpected(std::move(recording.error()));
  }
  return CacheRequest{.recording = std::move(*recording), .remove = params.remove};
}

Read<ReportRequest> to_request(protocol::ReportParams params) {
  auto selection = to_selection(params.selection);
  if (!selection) {
    return std::unexpected(std::move(selection.error()));
  }
  return ReportRequest{.id = std::move(params.id),
                       .function = std::move(params.function),
                       .selection = std::move(*selection),
                       .inlined = params.inlined};
}

Read<FlameRequest> to_request(protocol::FlameParams params) {
  auto selection = to_selection(params.selection);
  if (!selection) {
    return std::unexpected(std::move(selection.error()));
  }
  measure::FlameTime time = measure::FlameTime::wall;
  switch (params.time_kind) {
  case protocol::TimeKind::on:
    time = measure::FlameTime::on_cpu;
    break;
  case protocol::TimeKind::off:
    time = measure::FlameTime::off_cpu;
    break;
  case protocol::TimeKind::wall:
    break;
  }
  return FlameRequest{.id = std::move(params.id),
                      .function = std::move(params.function),
                      .time = time,
                      .smallest = params.smallest,
                      .selection = std::move(*selection)};
}

Read<CallsRequest> to_request(protocol::CallsParams params) {
  auto selection = to_selection(params.selection);
  if (!selection) {
    return std::unexpected(std::move(selection.error()));
  }
  if (!params.function) {
    return bad("function", "is missing");
  }
  return CallsRequest{.id = std::move(params.id),
                      .function = std::move(*params.function),
                      .selection = std::move(*selection),
                      .offset = params.offset,
                      .limit = static_cast<std::uint64_t>(params.limit)};
}

} // namespace ptlens::server
