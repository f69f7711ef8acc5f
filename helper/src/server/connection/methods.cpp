// The methods under ptlens/ that workers answer: each reads its parameters, asks the session or the
// host, and returns the result.
#include "export/json/machine_json.hpp"
#include "server/connection/ask.hpp"
#include "server/connection/connection.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ptlens::server {

namespace {

Session::PartialListener partial_to(Pending& pending) {
  return [&pending](Json report) { pending.send_partial(std::move(report)); };
}

std::vector<protocol::FoundFunction>
found_functions(const std::vector<FunctionOfBinary>& functions) {
  std::vector<protocol::FoundFunction> list;
  for (const FunctionOfBinary& function : functions) {
    list.push_back(found_function(function, function.linkage_name, function.build_id));
  }
  return list;
}

} // namespace

Answer answer_of(Result<Json> result) {
  if (!result) {
    return std::unexpected(fault_of(result.error()));
  }
  return std::move(*result);
}

void Connection::add_methods() {
  add_machine_methods();
  add_recording_methods();
  add_query_methods();
  add_editor_methods();
}

// What can be measured on this machine.
void Connection::add_machine_methods() {
  add("ptlens/doctor", [this](Pending&, const Input& params) {
    return ask<protocol::DoctorParams>(params, [this](auto& request) -> Result<Json> {
      if (request.perf.empty()) {
        request.perf = perf_;
      }
      return exporting::doctor_json(host_.diagnose(request));
    });
  });
  add("ptlens/processes", [this](Pending&, const Input& params) {
    return ask<protocol::ProcessesParams>(params, [this](const auto& request) -> Result<Json> {
      return exporting::processes_json(host_.processes(request.source));
    });
  });
  add("ptlens/threads", [this](Pending&, const Input& params) {
    return ask<protocol::ThreadsParams>(params, [this](const auto& request) -> Result<Json> {
      const auto threads = host_.threads(request.pid);
      if (!threads) {
        return std::unexpected(threads.error());
      }
      return exporting::threads_json(*threads);
    });
  });
  add("ptlens/functionAt", [this](Pending&, const Input& params) {
    return ask<protocol::FunctionAtParams>(
        params, [this](const auto& request) -> Result<Json> { return function_at(request); });
  });
}

// The recordings that are open.
void Connection::add_recording_methods() {
  add("ptlens/open",
      [this](Pending& pending, const Input& params) {
        return open(params, partial_to(pending), pending.progress());
      },
      {.title = "Opening the recording", .changes_lenses = true});
  add("ptlens/record",
      [this](Pending& pending, const Input& params) {
        return ask<protocol::RecordParams>(params, [&](RecordRequest& request) {
          use_default(request.symfs, symfs_);
          use_default(request.request.perf, perf_);
          return session_.record(request, partial_to(pending), pending.progress());
        });
      },
      {.title = "Measuring latency", .records = true, .changes_lenses = true});
  add("ptlens/close",
      [this](Pending&, const Input& params) {
        return ask<protocol::CloseParams>(
            params, [this](const auto& request) { return session_.close(request.id); });
      },
      {.changes_lenses = true});
  add("ptlens/activate",
      [this](Pending&, const Input& params) {
        return ask<protocol::ActivateParams>(
            params, [this](const auto& request) { return session_.activate(request); });
      },
      {.changes_lenses = true});
  add("ptlens/cache", [this](Pending&, const Input& params) {
    return ask<protocol::CacheParams>(params, [this](CacheRequest& request) {
      use_default(request.recording.symfs, symfs_);
      return session_.cache(request);
    });
  });
  add("ptlens/bundle",
      [this](Pending& pending, const Input& params) {
        return ask<protocol::BundleParams>(params, [&](const BundleRequest& request) {
          return session_.bundle(request, pending.progress());
        });
      },
      {.title = "Bundling the recording"});
}

// Questions about an open recording.
void Connection::add_query_methods() {
  add("ptlens/functions", [this](Pending&, const Input& params) {
    return ask<protocol::FunctionsParams>(
        params, [this](const auto& request) { return session_.functions(request.id); });
  });
  add("ptlens/identify", [this](Pending&, const Input& params) {
    return ask<protocol::IdentifyParams>(
        params, [this](const auto& request) { return session_.identify(request); });
  });
  add("ptlens/report", [this](Pending& pending, const Input& params) {
    return ask<protocol::ReportParams>(params, [&](const ReportRequest& request) {
      return session_.report(request, pending.progress());
    });
  });
  add("ptlens/lines", [this](Pending& pending, const Input& params) {
    return ask<protocol::LinesParams>(params, [&](const auto& request) {
      return session_.lines(request.id, request.file, pending.progress());
    });
  });
  add("ptlens/lineTime",
      [this](Pending& pending, const Input& params) {
        return ask<protocol::LineTimeParams>(params, [&](const auto& request) {
          return session_.line_time(request.id, request.file, pending.progress());
        });
      },
      {.title = "Measuring line time", .changes_lenses = true});
  add("ptlens/flame", [this](Pending& pending, const Input& params) {
    return ask<protocol::FlameParams>(params, [&](const FlameRequest& request) {
      return session_.flame(request, pending.progress());
    });
  });
  add("ptlens/calls", [this](Pending& pending, const Input& params) {
    return ask<protocol::CallsParams>(params, [&](const CallsRequest& request) {
      return session_.calls(request, pending.progress());
    });
  });
  add("ptlens/explain", [this](Pending& pending, const Input& params) {
    return ask<protocol::ExplainParams>(params, [&](const ExplainRequest& request) {
      return session_.explain(request, pending.progress());
    });
  });
  add("ptlens/diff", [this](Pending& pending, const Input& params) {
    return ask<protocol::DiffParams>(
        params, [&](const auto& request) { return session_.diff(request, pending.progress()); });
  });
  add("ptlens/waits", [this](Pending& pending, const Input& params) {
    return ask<protocol::WaitsParams>(params, [&](const WaitsRequest& request) {
      return session_.waits(request, pending.progress());
    });
  });
  add("ptlens/timeline", [this](Pending& pending, const Input& params) {
    return ask<protocol::TimelineParams>(params, [&](const auto& request) {
      return session_.timeline(request, pending.progress());
    });
  });
  add("ptlens/distribution", [this](Pending& pending, const Input& params) {
    return ask<protocol::DistributionParams>(params, [&](const DistributionRequest& request) {
      return session_.distribution(request, pending.progress());
    });
  });
}

void Connection::use_default(std::string& value, const std::string& otherwise) {
  if (value.empty()) {
    value = otherwise;
  }
}

Answer Connection::open(const Input& params, const Session::PartialListener& partial,
                        Progress& progress) {
  return ask<protocol::OpenParams>(params, [&](OpenRequest& request) {
    use_default(request.symfs, symfs_);
    return session_.open(request, partial, progress);
  });
}

Result<Json> Connection::function_at(const protocol::FunctionAtParams& request) {
  auto found = host_.functions_at(request);
  if (!found) {
    return std::unexpected(std::move(found.error()));
  }
  protocol::FunctionAtResult result;
  result.candidates = found_functions(found->candidates);
  result.message = std::move(found->message);
  if (found->inlined) {
    result.inlined = {.name = std::move(found->inlined->name),
                      .places = static_cast<std::uint32_t>(found->inlined->places),
                      .holders = found_functions(found->inlined->holders)};
  }
  return to_json(result);
}

} // namespace ptlens::server
