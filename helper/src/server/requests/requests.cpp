// Conversion of parameters to requests, with the rules that the schema cannot express.
#include "server/requests/requests.hpp"

#include "server/requests/selection_params.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

namespace ptlens::server {

namespace {

std::unexpected<protocol::BadField> bad(std::string path, const std::string& what) {
  return std::unexpected(protocol::bad_field(std::move(path), what));
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

measure::CallOrder order_of(protocol::CallOrder order) {
  switch (order) {
  case protocol::CallOrder::latency:
    return measure::CallOrder::latency;
  case protocol::CallOrder::self:
    return measure::CallOrder::self;
  case protocol::CallOrder::off_cpu:
    return measure::CallOrder::off_cpu;
  case protocol::CallOrder::start:
    break;
  }
  return measure::CallOrder::start;
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
                      .focus = std::move(params.focus),
                      .waits = params.waits,
                      .selection = std::move(*selection)};
}

Read<CallsRequest> to_request(protocol::CallsParams params) {
  auto selection = to_selection(params.selection);
  if (!selection) {
    return std::unexpected(std::move(selection.error()));
  }
  return CallsRequest{.id = std::move(params.id),
                      .function = std::move(params.function),
                      .selection = std::move(*selection),
                      .page = {.order = order_of(params.order),
                               .descending = params.descending,
                               .offset = params.offset,
                               .limit = static_cast<std::uint64_t>(params.limit)},
                      .details = params.details};
}

Read<ExplainRequest> to_request(protocol::ExplainParams params) {
  auto selection = to_selection(params.selection);
  if (!selection) {
    return std::unexpected(std::move(selection.error()));
  }
  const auto sets = measure::parse_sets(params.slow, params.typical);
  if (!sets) {
    const bool slow_is_right = measure::parse_sets(params.slow, "").has_value();
    return bad(slow_is_right ? "typical" : "slow", "is " + sets.error().one_line());
  }
  return ExplainRequest{.id = std::move(params.id),
                        .function = std::move(params.function),
                        .selection = std::move(*selection),
                        .sets = *sets,
                        .slow = std::move(params.slow),
                        .typical = std::move(params.typical)};
}

Read<WaitsRequest> to_request(protocol::WaitsParams params) {
  auto selection = to_selection(params.selection);
  if (!selection) {
    return std::unexpected(std::move(selection.error()));
  }
  return WaitsRequest{.id = std::move(params.id),
                      .function = std::move(params.function),
                      .selection = std::move(*selection)};
}

Read<DistributionRequest> to_request(protocol::DistributionParams params) {
  auto selection = to_selection(params.selection);
  if (!selection) {
    return std::unexpected(std::move(selection.error()));
  }
  return DistributionRequest{.id = std::move(params.id),
                             .function = std::move(params.function),
                             .selection = std::move(*selection),
                             .shape = {.bins = static_cast<std::size_t>(params.bins),
                                       .columns = static_cast<std::size_t>(params.columns),
                                       .points = static_cast<std::size_t>(params.points)}};
}

} // namespace ptlens::server
