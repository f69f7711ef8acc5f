// Plans within the budget, records, and sums up.
#include "record/backends/uprobe_backend.hpp"

#include "record/backends/finish.hpp"
#include "record/backends/probe_budget.hpp"
#include "record/backends/return_probes.hpp"
#include "record/machine/wait_events.hpp"
#include "record/perf/trace_settings.hpp"
#include "record/probes/cost/kept_cost.hpp"
#include "record/probes/events/probe_events.hpp"
#include "record/probes/events/probe_group.hpp"
#include "record/probes/plan/goroutine_probes.hpp"
#include "record/probes/session/hit_session.hpp"
#include "record/targets/build_ids.hpp"
#include "record/targets/target_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <optional>
#include <system_error>

namespace ptlens::record {
namespace {

struct Attempt {
  HitSessionEnd session;
  std::vector<Probe> probes;
  std::vector<Note> notes;
  std::future<Result<void>> removal; // of the probes
};

Result<void> remove(std::optional<HitEvents> events, std::vector<Descriptor> held,
                    ProbeGroup group) {
  events.reset();
  held.clear();
  return group.remove();
}

class UprobeRecorder {
public:
  UprobeRecorder(const Request& request, const Machine& machine, const std::string& data_file,
                 const Progress& progress)
      : request_(request), machine_(machine), data_file_(data_file), progress_(progress) {}

  Result<Summary> go(Manifest& manifest) {
    if (!request_.names_function()) {
      return std::unexpected(
          Error{.kind = Error::Kind::bad_input,
                .message = "probes measure one function, and the request names none",
                .remedy = "add --function NAME"});
    }
    waits_ = choose_wait_events(request_, machine_, manifest.notes);
    auto found = find_targets(request_);
    if (!found) {
      return std::unexpected(found.error());
    }
    TargetFiles& files = found->files;
    const std::vector<Place>& targets = found->functions;
    const Place& target = targets.front();
    const std::string named =
        targets.size() == 1
            ? target->name
            : fmt::format("{} ({} functions)", request_.function_names(), targets.size());
    std::vector<Note> notes;
    auto plan =
        plan_probes(targets, resolver_of(files),
                    PlanLimits{.return_probe = choose_return_probes(request_, files, notes)});
    if (!plan) {
      return std::unexpected(plan.error());
    }
    if (auto followed = follow_goroutines(*plan, request_.tid.has_value()); !followed) {
      return std::unexpected(followed.error());
    }
    const auto cost = known_probe_cost(machine_);
    if (cost) {
      cost_ = *cost;
    } else if (cost.error().kind == Error::Kind::no_rights) {
      return std::unexpected(cost.error());
    }
    append(notes, plan->notes);
    const auto within = keep_within_budget(request_, machine_, cost_, waits_.has_value(), files,
                                           began_, *plan, notes);
    if (!within) {
      return std::unexpected(within.error());
    }
    auto attempt = run(*plan, files, *within);
    const bool more_than_target = std::ranges::any_of(plan->probes, is_of_callee);
    if (!attempt && attempt.error().kind == Error::Kind::failed && more_than_target) {
      notes.push_back(make_note("callees_not_probed",
                                "the functions that {} calls are not measured, because their "
                                "probes could not be set: {}",
                                named, attempt.error().one_line()));
      std::error_code ignored;
      std::filesystem::remove(data_file_, ignored);
      attempt = run(without_callees(*plan), files, *within);
    }
    if (!attempt) {
      return std::unexpected(attempt.error());
    }
    manifest.binary = files.file_of(target.binary.get())->path;
    manifest.probes = attempt->probes;
    manifest.measured = attempt->session.measured;
    manifest.end_ns = attempt->session.end_ns;
    manifest.slowdown = cost ? attempt->session.slowdown : 1;
    describe(named, manifest.notes);
    if (!cost) {
      manifest.notes.push_back(make_note(
          "probe_cost_unknown", "the cost of a probe on this machine could not be measured: {}",
          cost.error().one_line()));
    }
    append(manifest.notes, notes);
    append(manifest.notes, attempt->notes);
    append(manifest.notes, attempt->session.notes);
    if (auto note = without_budget(request_, *plan, named, files, attempt->probes,
                                   attempt->session.costs, manifest.slowdown)) {
      manifest.notes.push_back(std::move(*note));
    }
    auto summary = finish_recording(
        {.end = attempt->session.end, .data_file = data_file_, .request = &request_}, machine_,
        manifest);
    if (const auto removed = attempt->removal.get(); !removed) {
      manifest.notes.push_back(make_note("probes_not_removed", "{}", removed.error().one_line()));
    }
    return summary;
  }

private:
  Result<Attempt> run(const ProbePlan& plan, const TargetFiles& files, const WithinBudget& within) {
    auto group = ProbeGroup::make(machine_.tracefs);
    if (!group) {
      return std::unexpected(group.error());
    }
    ProbeEvents events(*group, files);
    if (auto defined = events.define(plan); !defined) {
      return std::unexpected(defined.error());
    }
    Attempt attempt;
    attempt.probes = events.probes();
    attempt.notes = events.notes();
    set_costs(files, attempt.probes, &HitCost::hit_ns);
    std::vector<Probe> frequent = attempt.probes;
    set_costs(files, frequent, &HitCost::frequent_ns);
    HitSession session{.request = &request_,
                       .events = events.events(),
                       .callees = events.callees(),
                       .costs = HitCosts(attempt.probes, frequent),
                       .wait_ns = cost_ ? cost_->wait_ns : 0,
                       .budget = within.budget,
                       .in_bursts = within.in_bursts,
                       .pages = choose_buffers(request_, machine_, false).data_pages,
                       .data_file = data_file_,
                       .build_ids = build_ids_of(files),
                       .waits = waits_};
    if (!request_.callees.empty()) {
      session.callees.clear(); // the user asked for them
    }
    if (request_.snapshot) {
      const bool one = request_.functions().size() == 1;
      session.snapshot.emplace(one ? plan.probes.front().place->name : request_.function_names(),
                               attempt.probes, request_.slower_than_ns);
    }
    auto ended = run_hit_session(session, progress_);
    if (!ended) {
      return std::unexpected(ended.error());
    }
    attempt.removal = std::async(std::launch::async, remove, std::move(ended->events),
                                 std::move(ended->held), std::move(*group));
    for (Probe& probe : attempt.probes) {
      probe.end_ns = session.callees.contains(probe.event_id) ? ended->callees_end_ns : 0;
    }
    attempt.session = std::move(*ended);
    return attempt;
  }

  void set_costs(const TargetFiles& files, std::vector<Probe>& probes,
                 double HitCost::* hit_ns) const {
    const auto returns = [&probes](const Probe& entry) {
      return std::ranges::any_of(probes, [&entry](const Probe& other) {
        return other.kind == Probe::Kind::returned && other.function == entry.function &&
               other.binary == entry.binary;
      });
    };
    for (Probe& probe : probes) {
      if (!cost_ || (probe.kind == Probe::Kind::exit && probe.address == probe.function)) {
        continue; // the cost of the entry includes this probe
      }
      const auto binary = files.opened(probe.binary);
      const HitCost& hit = cost_->of(binary && is_emulated(binary->code_at(probe.address)));
      probe.hit_ns = hit.*hit_ns;
      probe.uncertainty_ns = hit.uncertainty_ns;
      if (probe.kind == Probe::Kind::returned) {
        probe.hit_ns = cost_->returned.*hit_ns;
        probe.uncertainty_ns = cost_->returned.uncertainty_ns;
      } else if (probe.kind == Probe::Kind::entry) {
        probe.latency_ns = hit.latency_ns;
        probe.late_ns = hit.late_ns;
        if (returns(probe)) {
          probe.latency_ns += cost_->returned.latency_ns;
          probe.uncertainty_ns = std::max(hit.uncertainty_ns, cost_->returned.uncertainty_ns);
        }
      }
    }
  }

  static void append(std::vector<Note>& list, const std::vector<Note>& more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  static void describe(const std::string& target, std::vector<Note>& notes) {
    notes.push_back(make_note("probe_scope",
                              "only calls of {}, and those that it makes directly, are recorded. "
                              "Inlined calls are not recorded",
                              target));
  }

  const Request& request_;
  const Machine& machine_;
  const std::string& data_file_;
  const Progress& progress_;
  const OwnTime began_;
  std::optional<ProbeCost> cost_;
  std::optional<WaitEvents> waits_;
};

} // namespace

Result<Summary> record_uprobe(const Request& request, const Machine& machine,
                              const std::string& data_file, const Progress& progress,
                              Manifest& manifest) {
  return UprobeRecorder(request, machine, data_file, progress).go(manifest);
}

} // namespace ptlens::record
