#include "record/backends/uprobe_backend.hpp"

#include "record/backends/finish.hpp"
#include "record/perf/perf_command.hpp"
#include "record/perf/session.hpp"
#include "record/probes/goroutine_probes.hpp"
#include "record/probes/probe_cost.hpp"
#include "record/probes/probe_events.hpp"
#include "record/probes/probe_group.hpp"
#include "record/targets/target_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ptlens::record {
namespace {

struct Attempt {
  SessionEnd end;
  std::vector<Probe> probes;
  std::vector<Note> notes;
  std::vector<std::string> command;
};

class UprobeRecorder {
public:
  UprobeRecorder(const Request& request, const Machine& machine, const std::string& perf,
                 const std::string& data_file, const Progress& progress)
      : request_(request), machine_(machine), perf_(perf), data_file_(data_file),
        progress_(progress) {}

  Result<Summary> go(Manifest& manifest) {
    if (!request_.names_function()) {
      return std::unexpected(
          Error{.kind = Error::Kind::bad_input,
                .message = "probes measure one function, and the request names none",
                .remedy = "add --function NAME"});
    }
    auto files = TargetFiles::of(request_);
    if (!files) {
      return std::unexpected(files.error());
    }
    const auto targets = find_targets(request_, *files);
    if (!targets) {
      return std::unexpected(targets.error());
    }
    const Place& target = targets->front();
    const std::string named =
        targets->size() == 1 ? target->name
                             : fmt::format("{} ({} functions)", request_.function, targets->size());
    const StubResolver resolve = [&files](std::string_view name) { return files->resolve(name); };
    const PlanLimits limits;
    auto plan = plan_probes(*targets, resolve, limits);
    if (!plan) {
      return std::unexpected(plan.error());
    }
    if (auto followed = follow_goroutines(*plan, request_.tid.has_value()); !followed) {
      return std::unexpected(followed.error());
    }
    std::vector<Note> notes = plan->notes;
    const auto cost = measure_probe_cost(machine_, perf_, request_.output + "/calibration");
    if (!cost && cost.error().kind == Error::Kind::no_rights) {
      return std::unexpected(cost.error());
    }
    auto attempt = run(*plan, *files);
    const bool more_than_target = !std::ranges::all_of(plan->probes, &PlannedProbe::target);
    if (attempt && more_than_target && !progress_.finish_asked() &&
        !has_measured(finished(*attempt))) {
      notes = {make_note("callees_not_probed",
                         "the functions that {} calls are not measured, because perf could not set "
                         "their probes: {}",
                         named, attempt->end.last_line)};
      std::error_code ignored;
      std::filesystem::remove(data_file_, ignored);
      attempt = run(target_only(*plan), *files);
    }
    if (!attempt) {
      return std::unexpected(attempt.error());
    }
    manifest.binary = files->file_of(target.binary.get())->path;
    manifest.perf_command = attempt->command;
    manifest.probes = attempt->probes;
    describe(named, manifest.notes);
    if (cost) {
      set_costs(*cost, *files, manifest);
    } else {
      manifest.notes.push_back(make_note(
          "probe_cost_unknown",
          "the cost of a probe on this machine could not be measured, so latencies are not "
          "corrected: {}",
          cost.error().one_line()));
    }
    append(manifest.notes, notes);
    append(manifest.notes, attempt->notes);
    FinishedSession ended = finished(*attempt);
    if (cost) {
      ended.probe_cost = *cost;
    }
    return finish_recording(ended, machine_, manifest);
  }

private:
  Result<Attempt> run(const ProbePlan& plan, const TargetFiles& files) {
    auto group = ProbeGroup::make(machine_.tracefs);
    if (!group) {
      return std::unexpected(group.error());
    }
    ProbeEvents events(*group, files);
    if (auto defined = events.define(plan); !defined) {
      return std::unexpected(defined.error());
    }
    auto control = PerfControl::make();
    if (!control) {
      return std::unexpected(control.error());
    }
    Attempt attempt;
    attempt.command = uprobe_command(
        request_, machine_,
        PerfSetting{.perf = perf_, .data_file = data_file_, .control = control->argument()},
        events.events());
    attempt.probes = events.probes();
    attempt.notes = events.notes();
    auto end = run_session(session_of(request_, attempt.command), std::move(*control), progress_);
    auto removed = group->remove();
    if (!end) {
      return std::unexpected(end.error());
    }
    attempt.end = std::move(*end);
    if (!removed) {
      attempt.notes.push_back(make_note("probes_not_removed", "{}", removed.error().one_line()));
    }
    return attempt;
  }

  static void set_costs(const ProbeCost& cost, TargetFiles& files, Manifest& manifest) {
    for (Probe& probe : manifest.probes) {
      if (is_second(probe.kind) ||
          (probe.kind == Probe::Kind::exit && probe.address == probe.function)) {
        continue; // the cost of the entry includes this probe
      }
      const auto binary = files.open({.path = probe.binary, .open_path = probe.binary});
      const bool emulated = binary && is_emulated((*binary)->code_at(probe.address));
      const auto followed_by = [&](Probe::Kind kind) {
        return std::ranges::any_of(manifest.probes, [&](const Probe& other) {
          return other.kind == kind && other.function == probe.function &&
                 other.binary == probe.binary;
        });
      };
      const bool timed = probe.kind == Probe::Kind::entry && followed_by(Probe::Kind::after_entry);
      const HitCost& hit = timed ? cost.of_timed(emulated) : cost.of(emulated);
      probe.hit_ns = hit.hit_ns;
      probe.uncertainty_ns = hit.uncertainty_ns;
      if (probe.kind == Probe::Kind::entry) {
        probe.latency_ns = hit.latency_ns;
      } else if (!probe.tail_call && followed_by(Probe::Kind::after_exit)) {
        probe.hit_ns += cost.timed_emulated.exit_between_ns;
      }
    }
    const auto in_ns = [](double ns) { return fmt::format("{:.0f}", ns); };
    manifest.notes.push_back(make_note(
        "probe_cost",
        "measured on this machine just before the recording: a hit takes {} ns ({} ns at an "
        "instruction that the kernel emulates), and adds {} ns ({} ns) to a latency. The corrected "
        "latency excludes this",
        in_ns(cost.stepped.hit_ns), in_ns(cost.emulated.hit_ns), in_ns(cost.stepped.latency_ns),
        in_ns(cost.emulated.latency_ns)));
  }

  [[nodiscard]] FinishedSession finished(const Attempt& attempt) const {
    return {.end = attempt.end, .data_file = data_file_, .request = &request_};
  }

  static void append(std::vector<Note>& list, const std::vector<Note>& more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  static void describe(const std::string& target, std::vector<Note>& notes) {
    notes.push_back(make_note(
        "probes",
        "recorded with kernel probes. Each call of a probed function stops its thread at the entry "
        "and at the exit, for a microsecond or more each time. That time is included in the "
        "latencies "
        "of {} and of its callers",
        target));
    notes.push_back(make_note("probe_scope",
                              "only calls of {} and of the functions that it calls directly are "
                              "recorded, from any caller. "
                              "Inlined calls are not recorded",
                              target));
    notes.push_back(
        make_note("calls_at_the_ends",
                  "calls that were running when the recording started or stopped are incomplete"));
  }

  const Request& request_;
  const Machine& machine_;
  const std::string& perf_;
  const std::string& data_file_;
  const Progress& progress_;
};

} // namespace

Result<Summary> record_uprobe(const Request& request, const Machine& machine,
                              const std::string& perf, const std::string& data_file,
                              const Progress& progress, Manifest& manifest) {
  return UprobeRecorder(request, machine, perf, data_file, progress).go(manifest);
}

} // namespace ptlens::record
