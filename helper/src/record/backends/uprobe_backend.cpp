// Counts calls for a moment to plan within the budget, records, and sums up.
#include "record/backends/uprobe_backend.hpp"

#include "record/backends/finish.hpp"
#include "record/perf/trace_settings.hpp"
#include "record/probes/budget_plan.hpp"
#include "record/probes/call_counts.hpp"
#include "record/probes/goroutine_probes.hpp"
#include "record/probes/hit_session.hpp"
#include "record/probes/kept_cost.hpp"
#include "record/probes/probe_events.hpp"
#include "record/probes/probe_group.hpp"
#include "record/targets/build_ids.hpp"
#include "record/targets/target_functions.hpp"
#include "record/targets/unwinding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <system_error>

namespace ptlens::record {
namespace {

struct Attempt {
  HitSessionEnd session;
  std::vector<Probe> probes;
  std::vector<Note> notes;
};

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
        targets->size() == 1
            ? target->name
            : fmt::format("{} ({} functions)", request_.function_names(), targets->size());
    const StubResolver resolve = [&files](std::string_view name) { return files->resolve(name); };
    std::vector<Note> notes;
    auto plan =
        plan_probes(*targets, resolve, PlanLimits{.return_probe = return_probes(*files, notes)});
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
    double duty = 1;
    if (auto kept = keep_within_budget(*plan, *files, notes)) {
      duty = *kept;
    } else {
      return std::unexpected(kept.error());
    }
    auto attempt = run(*plan, *files, duty);
    const bool more_than_target = std::ranges::any_of(plan->probes, is_of_callee);
    if (!attempt && attempt.error().kind == Error::Kind::failed && more_than_target) {
      notes.push_back(make_note("callees_not_probed",
                                "the functions that {} calls are not measured, because their "
                                "probes could not be set: {}",
                                named, attempt.error().one_line()));
      std::error_code ignored;
      std::filesystem::remove(data_file_, ignored);
      attempt = run(target_only(*plan), *files, duty);
    }
    if (!attempt) {
      return std::unexpected(attempt.error());
    }
    manifest.binary = files->file_of(target.binary.get())->path;
    manifest.probes = attempt->probes;
    manifest.measured = attempt->session.measured;
    manifest.slowdown = cost ? attempt->session.slowdown : 1;
    describe(named, manifest.notes);
    if (cost) {
      note_cost(*cost, manifest);
    } else {
      manifest.notes.push_back(make_note(
          "probe_cost_unknown",
          "the cost of a probe on this machine could not be measured, so latencies are not "
          "corrected: {}",
          cost.error().one_line()));
    }
    append(manifest.notes, notes);
    append(manifest.notes, attempt->notes);
    append(manifest.notes, attempt->session.notes);
    return finish_recording(
        {.end = attempt->session.end, .data_file = data_file_, .request = &request_}, machine_,
        manifest);
  }

private:
  // Returns which functions get return probes, and notes why.
  std::function<bool(const Place&)> return_probes(TargetFiles& files,
                                                  std::vector<Note>& notes) const {
    if (request_.returns == "exit") {
      return {};
    }
    const std::string danger = why_unwound(files, request_);
    const auto may_return = [](const Place& place) { return !place.binary->has_go_runtime(); };
    if (request_.returns == "uretprobe" && !contains_go(files)) {
      if (!danger.empty()) {
        notes.push_back(make_note("return_probes_forced",
                                  "return probes were used because the request asks for them. They "
                                  "end a program that unwinds through a measured function, and {}",
                                  danger));
      }
      return may_return;
    }
    if (danger.empty()) {
      notes.push_back(make_note(
          "return_probes", "the ends of calls were seen by return probes, because nothing that "
                           "the program has loaded unwinds or switches stacks"));
      return may_return;
    }
    notes.push_back(make_note("exit_probes",
                              "the ends of calls were seen by probes at the exits, because return "
                              "probes would endanger the program: {}",
                              danger));
    if (contains_go(files)) {
      return {};
    }
    return [may_return](const Place& place) { return may_return(place) && is_leaf(place); };
  }

  [[nodiscard]] double budget() const { return request_.budget / 100; }

  // Removes from the plan what the request or the budget leaves out. Returns the share of the time
  // in which the rest may be measured.
  Result<double> keep_within_budget(ProbePlan& plan, const TargetFiles& files,
                                    std::vector<Note>& notes) {
    const std::vector<std::string>& wanted = request_.callees;
    if (wanted.size() == 1 && wanted.front() == "none") {
      plan = target_only(plan);
    }
    if (!cost_ || budget() >= 1 || !request_.attached()) {
      return 1; // without limit, or only while it is recorded
    }
    auto counted = count_calls(plan, files, machine_.tracefs, *request_.attached());
    if (!counted) {
      return std::unexpected(counted.error());
    }
    std::vector<Candidate> candidates;
    std::vector<const symbols::Function*> functions;
    for (const PlannedProbe& probe : plan.probes) {
      const HitCost& hit = cost_->of(is_emulated(probe.place.binary->code_at(probe.address)));
      if (probe.kind == Probe::Kind::entry) {
        const std::string& name = probe.place->name;
        const double calls = counted->calls_a_s[candidates.size()];
        const bool forced = std::ranges::any_of(wanted, [&](const std::string& each) {
          return each == "all" || each == name || each == probe.place->linkage_name;
        });
        candidates.push_back({.name = name,
                              .target = probe.target,
                              .forced = forced,
                              .tail = ends_calls(plan, probe.place),
                              .calls_a_s = calls,
                              .cost_ns = hit.hit_ns});
        functions.push_back(&*probe.place);
        entry_ns_ = hit.hit_ns;
      } else if (!candidates.empty() && ends_call(probe.kind)) { // a call ends at one exit
        const double exit_ns =
            probe.kind == Probe::Kind::returned ? cost_->returned.hit_ns : hit.hit_ns;
        candidates.back().cost_ns = std::max(candidates.back().cost_ns, entry_ns_ + exit_ns);
      }
    }
    const BudgetPlan within = plan_within(candidates, budget(), counted->cpus);
    std::vector<std::string> left_out;
    std::erase_if(plan.probes, [&](const PlannedProbe& probe) {
      const auto at = std::ranges::find(functions, &*probe.place);
      return probe.kind != Probe::Kind::goroutine_end && at != functions.end() &&
             !within.chosen[static_cast<std::size_t>(at - functions.begin())];
    });
    for (std::size_t index = 0; index < candidates.size(); ++index) {
      if (!within.chosen[index]) {
        left_out.push_back(fmt::format("{} ({:.0f} calls/s)", candidates[index].name,
                                       candidates[index].calls_a_s));
      }
    }
    note_plan(candidates, within, left_out, notes);
    removal_ = std::async(
        std::launch::async,
        [counts = std::make_shared<CallCounts>(std::move(*counted))]() mutable { counts.reset(); });
    return within.duty;
  }

  static bool ends_call(Probe::Kind kind) {
    return kind == Probe::Kind::exit || kind == Probe::Kind::returned;
  }

  static bool ends_calls(const ProbePlan& plan, const Place& place) {
    return std::ranges::any_of(plan.probes, [&place](const PlannedProbe& probe) {
      return probe.leads_to && &**probe.leads_to == &*place;
    });
  }

  void note_plan(const std::vector<Candidate>& candidates, const BudgetPlan& within,
                 std::vector<std::string> left_out, std::vector<Note>& notes) const {
    constexpr std::size_t shown = 8;
    const std::string budget = fmt::format("{:g}", request_.budget);
    if (!left_out.empty()) {
      const std::size_t more = left_out.size() > shown ? left_out.size() - shown : 0;
      left_out.resize(left_out.size() - more);
      const std::string rest = more == 0 ? std::string() : fmt::format(" and {} more", more);
      notes.push_back(make_note("callees_left_out",
                                "not measured, to slow the program by at most {} %: {}{}. To "
                                "measure them too, add --budget 100 or --callees NAME",
                                budget, fmt::to_string(fmt::join(left_out, ", ")), rest));
    }
    if (within.duty < 1) {
      notes.push_back(make_note(
          "bursts",
          "{} is called {} times a second, and measuring every call would slow the program by {} "
          "%. It is measured in bursts, {} % of the time. To measure every call, add --budget 100",
          candidates.front().name, fmt::format("{:.0f}", candidates.front().calls_a_s),
          fmt::format("{:.0f}", 100 * std::min(within.share, 0.99)),
          fmt::format("{:.1f}", 100 * within.duty)));
    }
  }

  Result<Attempt> run(const ProbePlan& plan, const TargetFiles& files, double duty) {
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
    set_costs(files, attempt.probes);
    HitSession session{.request = &request_,
                       .events = events.events(),
                       .callees = events.callees(),
                       .costs = HitCosts(attempt.probes),
                       .budget = budget(),
                       .duty = duty,
                       .pages = choose_buffers(request_, machine_, false).data_pages,
                       .data_file = data_file_,
                       .build_ids = build_ids_of(files)};
    if (!request_.callees.empty()) {
      session.callees.clear(); // the user asked for them
    }
    if (request_.snapshot) {
      const bool one = request_.functions().size() == 1;
      session.snapshot.emplace(one ? plan.probes.front().place->name : request_.function_names(),
                               attempt.probes, request_.slower_than_ns);
    }
    auto ended = run_hit_session(session, progress_);
    auto removed = group->remove();
    if (!ended) {
      return std::unexpected(ended.error());
    }
    attempt.session = std::move(*ended);
    if (!removed) {
      attempt.notes.push_back(make_note("probes_not_removed", "{}", removed.error().one_line()));
    }
    return attempt;
  }

  void set_costs(const TargetFiles& files, std::vector<Probe>& probes) const {
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
      probe.hit_ns = hit.hit_ns;
      probe.uncertainty_ns = hit.uncertainty_ns;
      if (probe.kind == Probe::Kind::returned) {
        probe.hit_ns = cost_->returned.hit_ns;
        probe.uncertainty_ns = cost_->returned.uncertainty_ns;
      } else if (probe.kind == Probe::Kind::entry) {
        probe.latency_ns = hit.latency_ns + (returns(probe) ? cost_->returned.latency_ns : 0);
      }
    }
  }

  static void note_cost(const ProbeCost& cost, Manifest& manifest) {
    const auto in_ns = [](double ns) { return fmt::format("{:.0f}", ns); };
    manifest.notes.push_back(make_note(
        "probe_cost",
        "measured on this machine since it started: a hit takes {} ns ({} ns at an instruction "
        "that "
        "the kernel emulates), and adds {} ns ({} ns) to a latency. The corrected latency excludes "
        "this",
        in_ns(cost.stepped.hit_ns), in_ns(cost.emulated.hit_ns), in_ns(cost.stepped.latency_ns),
        in_ns(cost.emulated.latency_ns)));
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
  const std::string& data_file_;
  const Progress& progress_;
  std::optional<ProbeCost> cost_;
  double entry_ns_ = 0;
  std::future<void> removal_; // of the probes that counted calls
};

} // namespace

Result<Summary> record_uprobe(const Request& request, const Machine& machine,
                              const std::string& data_file, const Progress& progress,
                              Manifest& manifest) {
  return UprobeRecorder(request, machine, data_file, progress).go(manifest);
}

} // namespace ptlens::record
