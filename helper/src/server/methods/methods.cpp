// The requests that workers do: each reads its parameters, asks the session, and gives its answer.
#include "export/machine_json.hpp"
#include "server/methods/ask.hpp"
#include "server/rpc/connection.hpp"
#include "server/rpc/fields.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptlens::server {

namespace {

Session::PartialListener partial_to(Pending& pending) {
  return [&pending](Json report) { pending.send_partial(std::move(report)); };
}

Json found_functions(const std::vector<stacks::FunctionInfo>& functions) {
  Json list = Json::array();
  for (const stacks::FunctionInfo& function : functions) {
    list.push_back({{"name", function.name},
                    {"binary", function.binary},
                    {"address", fmt::format("{:#x}", function.address)},
                    {"file", function.file},
                    {"line", function.line},
                    {"spelling", symbols::without_parameters(function.name)}});
  }
  return list;
}

} // namespace

void Connection::add_methods() {
  methods_["ptlens/doctor"] = {
      .work = [this](Pending&, const Input& params) { return doctor(params); }};
  methods_["ptlens/processes"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_processes, [this](const std::string& source) -> Result<Json> {
      return exporting::processes_json(host_.processes(source));
    });
  }};
  methods_["ptlens/threads"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_threads, [this](std::int32_t pid) -> Result<Json> {
      const auto threads = host_.threads(pid);
      return threads ? Result<Json>(exporting::threads_json(*threads))
                     : std::unexpected(threads.error());
    });
  }};
  methods_["ptlens/bundle"] = {.work =
                                   [this](Pending& pending, const Input& params) {
                                     return ask(
                                         params, read_bundle, [&](const BundleRequest& request) {
                                           return session_.bundle(request, pending.progress());
                                         });
                                   },
                               .title = "Bundling the recording"};
  methods_["ptlens/functionAt"] = {
      .work = [this](Pending&, const Input& params) { return function_at(params); }};
  methods_["ptlens/open"] = {.work =
                                 [this](Pending& pending, const Input& params) {
                                   return ask(params, read_open, [&](OpenRequest& request) {
                                     if (request.symfs.empty()) {
                                       request.symfs = symfs_;
                                     }
                                     return session_.open(request, partial_to(pending),
                                                          pending.progress());
                                   });
                                 },
                             .title = "Opening the recording",
                             .changes_lenses = true};
  methods_["ptlens/record"] = {.work =
                                   [this](Pending& pending, const Input& params) {
                                     return ask(params, read_record, [&](RecordRequest& request) {
                                       if (request.symfs.empty()) {
                                         request.symfs = symfs_;
                                       }
                                       if (request.request.perf.empty()) {
                                         request.request.perf = perf_;
                                       }
                                       return session_.record(request, partial_to(pending),
                                                              pending.progress());
                                     });
                                   },
                               .title = "Measuring latency",
                               .records = true,
                               .changes_lenses = true};
  methods_["ptlens/close"] = {.work =
                                  [this](Pending&, const Input& params) {
                                    return ask(params, read_id, [this](const std::string& id) {
                                      return session_.close(id);
                                    });
                                  },
                              .changes_lenses = true};
  methods_["ptlens/activate"] = {.work =
                                     [this](Pending&, const Input& params) {
                                       return ask(params, read_activate,
                                                  [this](const ActivateRequest& request) {
                                                    return session_.activate(request);
                                                  });
                                     },
                                 .changes_lenses = true};
  methods_["ptlens/store"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_store, [this](StoreRequest& request) {
      if (request.recording.symfs.empty()) {
        request.recording.symfs = symfs_;
      }
      return session_.store(request);
    });
  }};
  methods_["ptlens/functions"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_id, [this](const std::string& id) { return session_.functions(id); });
  }};
  methods_["ptlens/report"] = {.work = [this](Pending& pending, const Input& params) {
    return ask(params, read_report, [&](const ReportRequest& request) {
      return session_.report(request, pending.progress());
    });
  }};
  methods_["ptlens/lines"] = {.work = [this](Pending& pending, const Input& params) {
    return ask(params, read_lines, [&](const LinesRequest& request) {
      return session_.lines(request, pending.progress());
    });
  }};
  methods_["ptlens/lineTime"] = {.work =
                                     [this](Pending& pending, const Input& params) {
                                       return ask(
                                           params, read_lines, [&](const LinesRequest& request) {
                                             return session_.line_time(request, pending.progress());
                                           });
                                     },
                                 .title = "Measuring line time",
                                 .changes_lenses = true};
  methods_["ptlens/flame"] = {.work = [this](Pending& pending, const Input& params) {
    return ask(params, read_flame, [&](const FlameRequest& request) {
      return session_.flame(request, pending.progress());
    });
  }};
  methods_["ptlens/calls"] = {.work = [this](Pending& pending, const Input& params) {
    return ask(params, read_calls, [&](const CallsRequest& request) {
      return session_.calls(request, pending.progress());
    });
  }};
  add_editor_methods();
}

Answer Connection::doctor(const Input& params) {
  return ask(params, read_doctor, [this](DoctorRequest& request) -> Result<Json> {
    if (request.perf.empty()) {
      request.perf = perf_;
    }
    return exporting::doctor_json(host_.diagnose(request));
  });
}

Answer Connection::function_at(const Input& params) {
  return ask(params, read_function_at, [this](const FunctionAtRequest& request) -> Result<Json> {
    auto found = host_.functions_at(request);
    if (!found) {
      return std::unexpected(std::move(found.error()));
    }
    Json inlined = nullptr;
    if (found->inlined) {
      inlined = {{"name", found->inlined->name},
                 {"places", found->inlined->places},
                 {"holders", found_functions(found->inlined->holders)}};
    }
    return Json{{"candidates", found_functions(found->candidates)},
                {"message", found->message},
                {"inlined", std::move(inlined)}};
  });
}

} // namespace ptlens::server
