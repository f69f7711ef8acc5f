// The recordings that a client has open, and the answers about them.
#include "server/recordings/open_recordings.hpp"

#include "base/cancellation.hpp"
#include "engine/inlined/inlined_report.hpp"
#include "engine/recording/asked_functions.hpp"
#include "export/json/functions_json.hpp"
#include "export/json/lines_json.hpp"
#include "export/json/recording_json.hpp"
#include "export/json/report_json.hpp"
#include "export/line_times.hpp"
#include "export/text/text.hpp"
#include "measure/names/find_function.hpp"
#include "measure/report/report.hpp"
#include "server/recordings/call_answers.hpp"
#include "server/recordings/find_functions.hpp"
#include "server/recordings/output_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace ptlens::server {

namespace {

// A larger trace is not decoded again for one time line: the user would wait for it.
constexpr std::uint64_t most_trace_for_parting = std::uint64_t{64} << 20U; // bytes

Error not_open(const std::string& id) {
  return {.kind = Error::Kind::not_found,
          .message = fmt::format("no open recording has the id '{}'", id),
          .remedy = "open the recording first"};
}

Error stopped() {
  return {.kind = Error::Kind::cancelled, .message = "the helper is shutting down"};
}

} // namespace

// Registers work in progress, so that stop() can end it.
class Session::Running {
public:
  Running(Session& session, Progress& progress, bool keeps_recording)
      : session_(session), progress_(progress) {
    const std::lock_guard lock(session.mutex_);
    accepted_ = !session.stopping_;
    session.running_[&progress] = keeps_recording;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Running(Running&&) = delete;
  Running& operator=(Running&&) = delete;
  ~Running() {
    const std::lock_guard lock(session_.mutex_);
    session_.running_.erase(&progress_);
  }

  [[nodiscard]] bool accepted() const { return accepted_; }

private:
  Session& session_;
  Progress& progress_;
  bool accepted_ = false;
};

void Session::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const auto& [progress, keeps_recording] : running_) {
    if (keeps_recording) {
      progress->finish();
    } else {
      progress->cancel();
    }
  }
}

Result<Json> Session::open(const OpenRequest& request, const PartialListener& partial,
                           Progress& progress) {
  return load(request, partial, progress);
}

Result<Json> Session::load(const OpenRequest& request, const PartialListener& partial,
                           Progress& progress) {
  const Running running(*this, progress, false);
  if (!running.accepted()) {
    return std::unexpected(stopped());
  }
  const measure::Watch watch{
      .selector = {.name = request.function.name, .address = request.function.address},
      .binary = request.function.binary,
      .listener = [&partial](const measure::PartialReport& report) {
        if (partial) {
          partial(exporting::partial_report_json(report));
        }
      }};
  auto measurement = host_.open(request, watch, progress);
  if (!measurement) {
    return std::unexpected(std::move(measurement.error()));
  }
  auto opened = std::make_shared<OpenRecording>();
  opened->measurement = std::move(*measurement);
  opened->source = request;
  if (host_.sources) {
    opened->sources = host_.sources(request, *opened->measurement);
  }
  opened->asked_for = engine::asked_functions(*opened->measurement);
  {
    const std::lock_guard lock(mutex_);
    opened->id = fmt::format("{}", ++last_id_);
    open_.push_back(opened);
    if (request.activate) {
      activated_.push_back(opened->id);
      baseline_.clear();
      others_.clear();
    }
  }
  return with_id(*opened, {{"recording", exporting::recording_json(*opened->measurement)}});
}

Result<Json> Session::record(const RecordRequest& request, const PartialListener& partial,
                             Progress& progress) {
  record::Request wanted = request.request;
  if (wanted.output.empty()) {
    auto folder = new_recording_folder(wanted.function, request.folder);
    if (!folder) {
      return std::unexpected(std::move(folder.error()));
    }
    wanted.output = std::move(*folder);
  }
  Result<record::Outcome> outcome = std::unexpected(stopped());
  {
    const Running running(*this, progress, true);
    if (running.accepted()) {
      outcome = host_.record(wanted, progress);
    }
  }
  if (!outcome) {
    return std::unexpected(std::move(outcome.error()));
  }
  auto result = load({.path = outcome->directory,
                      .symfs = request.symfs,
                      .source_map = request.source_map,
                      .function = {.name = request.request.function,
                                   .binary = request.request.binary,
                                   .address = request.request.address}},
                     partial, progress);
  if (!result && result.error().kind == Error::Kind::cancelled) {
    result.error().file = outcome->directory;
    result.error().remedy = "the recording is complete and can be opened";
  }
  return result;
}

Result<Json> Session::close(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (std::erase_if(open_, [&id](const auto& recording) { return recording->id == id; }) == 0) {
    return std::unexpected(not_open(id));
  }
  std::erase(activated_, id);
  std::erase(others_, id);
  if (baseline_ == id) {
    baseline_.clear();
  }
  return Json::object();
}

Result<Json> Session::activate(const protocol::ActivateParams& request) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> named = request.others;
  named.push_back(request.id);
  named.push_back(request.baseline);
  for (const std::string& id : named) {
    if (!id.empty() && open_one(id) == nullptr) {
      return std::unexpected(not_open(id));
    }
  }
  others_ = request.others;
  if (request.id.empty()) {
    activated_.clear();
    baseline_.clear();
    others_.clear();
    return Json::object();
  }
  std::erase(activated_, request.id);
  activated_.push_back(request.id);
  baseline_ = request.baseline;
  return Json::object();
}

Result<Json> Session::cache(const CacheRequest& request) {
  protocol::CacheResult result;
  if (request.remove && host_.remove_cache) {
    auto paths = host_.remove_cache(request.recording);
    if (!paths) {
      return std::unexpected(std::move(paths.error()));
    }
    result.removed = std::move(*paths);
  }
  if (host_.cache_status) {
    auto status = host_.cache_status(request.recording);
    if (!status) {
      return std::unexpected(std::move(status.error()));
    }
    result.cached = status->exists && status->invalid.empty();
    result.path = std::move(status->path);
    result.reason = std::move(status->invalid);
    result.bytes = status->bytes;
    result.calls = status->calls;
    result.recording_bytes = status->recording_bytes;
  }
  return to_json(result);
}

// The caller holds the lock.
std::shared_ptr<OpenRecording> Session::open_one(const std::string& id) const {
  const auto at =
      std::ranges::find_if(open_, [&id](const auto& recording) { return recording->id == id; });
  return at == open_.end() ? nullptr : *at;
}

Result<std::shared_ptr<OpenRecording>> Session::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  if (auto recording = open_one(id)) {
    return recording;
  }
  return std::unexpected(not_open(id));
}

std::shared_ptr<OpenRecording> Session::active() const {
  const std::lock_guard lock(mutex_);
  return activated_.empty() ? nullptr : open_one(activated_.back());
}

std::vector<std::shared_ptr<OpenRecording>> Session::shown() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<OpenRecording>> recordings;
  if (activated_.empty()) {
    return recordings;
  }
  recordings.push_back(open_one(activated_.back()));
  for (const std::string& id : others_) {
    if (id != activated_.back()) {
      recordings.push_back(open_one(id));
    }
  }
  std::erase(recordings, nullptr);
  return recordings;
}

std::shared_ptr<OpenRecording> Session::baseline() const {
  const std::lock_guard lock(mutex_);
  return open_one(baseline_);
}

Result<std::string> Session::report_text(const FunctionSelector& function) const {
  const auto recording = active();
  if (recording == nullptr) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = "no recording is open",
                                 .remedy = "open a recording first"});
  }
  const measure::Measurement& measurement = *recording->measurement;
  const auto index = function_index(measurement, function);
  if (!index) {
    return std::unexpected(index.error());
  }
  return exporting::report_text(measurement, measure::report(measurement, *index, {}), {});
}

// Asks a question, and asks it a second time after decoding the trace again when the cache turns
// out to be damaged.
Result<Json> Session::answer_from_cache(const std::string& id, Progress& progress,
                                        const std::function<Result<Json>()>& ask) {
  const Cancellable scope(progress);
  auto answer = ask();
  if (progress.cancelled()) { // the answer is incomplete
    return std::unexpected(cancelled_question());
  }
  const auto recording = find(id);
  if (!recording || !(*recording)->damaged()) {
    return answer;
  }
  if (auto done = reopen(**recording); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return ask();
}

Result<void> Session::reopen(const OpenRecording& damaged) {
  Progress progress;
  const Running running(*this, progress, false);
  if (!running.accepted()) {
    return std::unexpected(stopped());
  }
  if (host_.remove_cache) {
    (void)host_.remove_cache(damaged.source); // a cache that stays is found damaged again
  }
  auto measurement = host_.open(damaged.source, {}, progress);
  if (!measurement) {
    return std::unexpected(std::move(measurement.error()));
  }
  auto opened = std::make_shared<OpenRecording>();
  opened->measurement = std::move(*measurement);
  opened->source = damaged.source;
  opened->sources = damaged.sources;
  opened->asked_for = damaged.asked_for;
  opened->id = damaged.id;
  const std::lock_guard lock(mutex_);
  for (auto& each : open_) {
    if (each->id == opened->id) {
      each = opened;
    }
  }
  return {};
}

Result<Json> Session::report(const ReportRequest& request, Progress& progress) {
  return answer_from_cache(request.id, progress, [&] { return report_once(request, progress); });
}

Result<Json> Session::lines(const std::string& id, const std::string& file, Progress& progress) {
  return answer_from_cache(id, progress, [&] { return lines_once(id, file); });
}

Result<Json> Session::line_time(const std::string& id, const std::string& file,
                                Progress& progress) {
  return answer_from_cache(id, progress, [&] { return line_time_once(id, file, progress); });
}

Result<Json> Session::ask(const std::string& id, Progress& progress,
                          const std::function<Result<Json>(OpenRecording&)>& answer) {
  return answer_from_cache(id, progress, [&]() -> Result<Json> {
    const auto recording = find(id);
    return recording ? answer(**recording) : std::unexpected(recording.error());
  });
}

Result<Json> Session::flame(const FlameRequest& request, Progress& progress) {
  return ask(request.id, progress, [&](OpenRecording& recording) {
    return answer_flame(recording, request, [&] { return waits_of(recording, progress); });
  });
}

Result<Json> Session::calls(const CallsRequest& request, Progress& progress) {
  return ask(request.id, progress, [&](const OpenRecording& recording) {
    return answer_calls(recording, request, [&] { return waits_of(recording, progress); });
  });
}

Result<Json> Session::explain(const ExplainRequest& request, Progress& progress) {
  return ask(request.id, progress, [&](const OpenRecording& recording) {
    return answer_explain(recording, request, [&] { return waits_of(recording, progress); });
  });
}

Result<std::shared_ptr<const waits::Waits>> Session::waits_of(const OpenRecording& recording,
                                                              const Progress& progress) const {
  return host_.waits ? host_.waits(recording.source, progress)
                     : std::make_shared<const waits::Waits>();
}

Result<Json> Session::diff(const protocol::DiffParams& request, Progress& progress) {
  return answer_from_cache(request.id, progress, [&]() -> Result<Json> {
    const auto recording = find(request.id);
    if (!recording) {
      return std::unexpected(recording.error());
    }
    const auto baseline = find(request.baseline);
    if (!baseline) {
      return std::unexpected(baseline.error());
    }
    return answer_diff(**recording, **baseline);
  });
}

Result<Json> Session::waits(const WaitsRequest& request, Progress& progress) {
  return ask(request.id, progress, [&](const OpenRecording& recording) {
    return answer_waits(recording, request, [&] { return waits_of(recording, progress); });
  });
}

Result<Json> Session::timeline(const protocol::TimelineParams& request, Progress& progress) {
  return ask(request.id, progress, [&](const OpenRecording& recording) {
    return answer_timeline(
        recording, request, [&] { return waits_of(recording, progress); },
        [&](const measure::Timeline& timeline) -> Result<std::optional<measure::Parting>> {
          const measure::Measurement& measurement = *recording.measurement;
          if (!request.parting || !host_.parting ||
              measurement.recording.trace_bytes > most_trace_for_parting) {
            return std::nullopt;
          }
          return host_.parting(recording.source, measurement, timeline, progress);
        });
  });
}

Result<Json> Session::distribution(const DistributionRequest& request, Progress& progress) {
  return ask(request.id, progress, [&](const OpenRecording& recording) {
    return answer_distribution(recording, request);
  });
}

Result<Json> Session::bundle(const BundleRequest& request, Progress& progress) {
  OpenRequest source = request.recording;
  if (!request.id.empty()) {
    const auto recording = find(request.id);
    if (!recording) {
      return std::unexpected(recording.error());
    }
    source = (*recording)->source;
  }
  const Running running(*this, progress, false);
  if (!running.accepted()) {
    return std::unexpected(stopped());
  }
  const auto made = host_.bundle(source, request.output, progress);
  if (!made) {
    return std::unexpected(made.error());
  }
  return to_json(protocol::BundleResult{.path = made->path,
                                        .bytes = made->bytes,
                                        .files = made->files.size(),
                                        .missing = made->missing});
}

Result<Json> Session::functions(const std::string& id) {
  auto recording = find(id);
  if (!recording) {
    return std::unexpected(std::move(recording.error()));
  }
  const measure::Measurement& measurement = *(*recording)->measurement;
  return with_id(**recording,
                 exporting::functions_json(measurement, measure::functions(measurement)));
}

Result<Json> Session::identify(const protocol::IdentifyParams& request) {
  const auto recording = find(request.id);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  const measure::Measurement& measurement = *(*recording)->measurement;
  const auto index = function_index(measurement, request.function);
  if (!index) {
    return std::unexpected(index.error());
  }
  const stacks::FunctionInfo& function = measurement.functions[*index];
  const auto& binaries = (*recording)->sources.binaries;
  const auto binary = binaries.find(function.binary);
  return to_json(protocol::IdentifyResult{
      .function = found_function(
          function, {}, binary == binaries.end() ? std::string() : binary->second.build_id)});
}

Result<Json> Session::report_once(const ReportRequest& request, Progress& progress) {
  auto recording = find(request.id);
  if (!recording) {
    return std::unexpected(std::move(recording.error()));
  }
  const measure::Measurement& measurement = *(*recording)->measurement;
  if (auto checked = measure::check_selection(measurement, request.selection); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const Running running(*this, progress, false);
  if (!running.accepted()) {
    return std::unexpected(stopped());
  }
  if (request.function.all) {
    const auto all = function_indices(measurement, request.function);
    if (all && all->size() > 1) {
      Json json =
          exporting::report_json(measurement, measure::report(measurement, *all, request.selection),
                                 measure::raw_latency(measurement, *all, request.selection));
      json["command"] = report_command(**recording, request, std::nullopt);
      return with_id(**recording, std::move(json));
    }
  }
  const engine::MeasureInlined measure_inlined =
      [&](const std::string& name, const std::string& binary) -> Result<engine::SharedInlined> {
    if (!measure::may_be_inlined(measurement, name)) {
      return nullptr;
    }
    return (*recording)->inlined(name, binary, [&] {
      return host_.inlined((*recording)->source, name, binary, progress);
    });
  };
  const auto function = function_index(measurement, request.function);
  if (!function && (request.function.address || !host_.inlined)) {
    return std::unexpected(function.error());
  }
  const bool wanted =
      host_.inlined &&
      (request.inlined || (function && engine::was_not_called(measurement, *function)));
  const auto report =
      function ? engine::report(measurement, *function, request.selection,
                                wanted ? measure_inlined : nullptr)
               : engine::report(measurement, request.function.name, request.function.binary,
                                request.selection, measure_inlined);
  if (!report) {
    return std::unexpected(report.error());
  }
  const auto raw = report->inlined || !function
                       ? std::nullopt
                       : measure::raw_latency(measurement, {&*function, 1}, request.selection);
  Json json = exporting::report_json(report->source(measurement), report->report, raw);
  if (report->not_called) {
    json["not_called"] = true;
  }
  if (const auto& inlined = report->inlined) {
    exporting::add_inlined(json, report->source(measurement), *inlined);
  } else if (function && !wanted && host_.inlined) {
    json["may_be_inlined"] =
        measure::may_be_inlined(measurement, measurement.functions[*function].name);
  }
  json["command"] =
      report_command(**recording, request, function ? std::optional(*function) : std::nullopt);
  return with_id(**recording, std::move(json));
}

Result<Session::LinesOfRecording> Session::lines_of(const std::string& id,
                                                    const std::string& file) const {
  auto recording = find(id);
  if (!recording) {
    return std::unexpected(std::move(recording.error()));
  }
  auto lines = (*recording)->lines(file);
  if (!lines) {
    return std::unexpected(std::move(lines.error()));
  }
  return LinesOfRecording{.recording = std::move(*recording), .lines = std::move(*lines)};
}

Result<Json> Session::lines_once(const std::string& id, const std::string& file) {
  auto found = lines_of(id, file);
  if (!found) {
    return std::unexpected(std::move(found.error()));
  }
  const OpenRecording& recording = *found->recording;
  return with_id(recording, exporting::lines_json(*recording.measurement, *found->lines));
}

Result<Json> Session::line_time_once(const std::string& id, const std::string& file,
                                     Progress& progress) {
  auto found = lines_of(id, file);
  if (!found) {
    return std::unexpected(std::move(found.error()));
  }
  const auto& [recording, lines] = *found;
  const Running running(*this, progress, false);
  if (!running.accepted()) {
    return std::unexpected(stopped());
  }
  const auto times = recording->line_times(
      *lines, [&](const auto& functions) -> Result<OpenRecording::SharedLineTimes> {
        return host_.line_times ? host_.line_times(found->recording->source, functions, progress)
                                : nullptr;
      });
  if (!times) {
    return std::unexpected(times.error());
  }
  return Json{{"file", lines->file}, {"line_time", exporting::line_times_json(times->get())}};
}

} // namespace ptlens::server
