// The requests that workers do: each reads its parameters, asks the session, and gives its answer.
#include "server/annotations.hpp"
#include "server/connection.hpp"
#include "server/fields.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptlens::server {

namespace {

Answer answer_of(Result<Json> result) {
  if (!result) {
    return std::unexpected(fault_of(result.error()));
  }
  return std::move(*result);
}

// Reads the parameters with `read` and asks `ask`, which gives a Result<Json>.
template <class Reader, class Ask>
Answer ask(const Input& params, Reader read, Ask ask) {
  auto request = read(params);
  if (!request) {
    return std::unexpected(std::move(request.error()));
  }
  return answer_of(ask(*request));
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
  methods_["ptlens/functionAt"] = {
      .work = [this](Pending&, const Input& params) { return function_at(params); }};
  methods_["ptlens/open"] = {.work =
                                 [this](Pending& pending, const Input& params) {
                                   return ask(params, read_open, [&](OpenRequest& request) {
                                     if (request.symfs.empty()) {
                                       request.symfs = symfs_;
                                     }
                                     return session_.open(request, pending.progress());
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
                                       return session_.record(request, pending.progress());
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
  methods_["ptlens/functions"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_id, [this](const std::string& id) { return session_.functions(id); });
  }};
  methods_["ptlens/report"] = {.work = [this](Pending& pending, const Input& params) {
    return ask(params, read_report, [&](const ReportRequest& request) {
      return session_.report(request, pending.progress());
    });
  }};
  methods_["ptlens/lines"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_lines,
               [this](const LinesRequest& request) { return session_.lines(request); });
  }};
  methods_["ptlens/flame"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_flame,
               [this](const FlameRequest& request) { return session_.flame(request); });
  }};
  methods_["ptlens/calls"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_calls,
               [this](const CallsRequest& request) { return session_.calls(request); });
  }};
  methods_["textDocument/codeLens"] = {.work = [this](Pending&, const Input& params) {
    return ask(
        params, [](const Input& input) { return read_place(input, false); },
        [this](const Place& place) -> Result<Json> {
          return code_lenses(session_.active().get(), place.file);
        });
  }};
  methods_["textDocument/hover"] = {.work = [this](Pending&, const Input& params) {
    return ask(
        params, [](const Input& input) { return read_place(input, true); },
        [this](const Place& place) -> Result<Json> {
          return hover(session_.active().get(), place);
        });
  }};
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
    Json candidates = Json::array();
    for (const stacks::FunctionInfo& function : found->candidates) {
      candidates.push_back({{"name", function.name},
                            {"binary", function.binary},
                            {"address", fmt::format("{:#x}", function.address)},
                            {"file", function.file},
                            {"line", function.line}});
    }
    return Json{{"candidates", std::move(candidates)}, {"message", found->message}};
  });
}

} // namespace ptlens::server
