// A probe that is only disabled still stops the program, so that bursts set and remove the
// breakpoints. hit_events.hpp says why that is quick. The load is checked in windows; a callee's
// probes go first, then the function is measured in bursts.
#include "record/probes/hit_session.hpp"

#include "record/probes/data_file.hpp"
#include "record/probes/hit_events.hpp"
#include "record/probes/hit_ring.hpp"
#include "record/probes/process_records.hpp"
#include "record/probes/record_order.hpp"
#include "record/probes/watched_target.hpp"
#include "record/processes/child.hpp"
#include "record/processes/process_stat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace ptlens::record {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_reads{4};
constexpr milliseconds program_patience{3'000}; // for a started program to end on request
constexpr double ns_per_s = 1e9;
constexpr double ns_per_ms = 1e6;
constexpr double first_window_ns = 50 * ns_per_ms;
constexpr double window_ns = 200 * ns_per_ms;
constexpr double tolerated = 1.2; // times the budget, in one window
constexpr double shortest_burst_ns = 2 * ns_per_ms;
constexpr double longest_period_ns = 1 * ns_per_s;
constexpr double least_duty = 0.002;

class HitRun {
public:
  HitRun(const HitSession& session, const Progress& progress)
      : session_(session), request_(*session.request), progress_(progress), late_(session.snapshot),
        duty_(session.duty) {}

  Result<HitSessionEnd> go() {
    if (auto begun = begin(); !begun) {
      return std::unexpected(begun.error());
    }
    while (!should_stop()) {
      if (progress_.cancelled()) {
        return std::unexpected(
            Error{.kind = Error::Kind::cancelled, .message = "the recording was cancelled"});
      }
      pause();
      drain();
      if (auto kept = keep_within_budget(); !kept) {
        return std::unexpected(kept.error());
      }
    }
    return end();
  }

private:
  [[nodiscard]] std::int32_t pid() const { return program_ ? program_->pid() : -1; }

  Result<void> begin() {
    if (!request_.program.empty()) {
      auto started = Child::start(ChildOptions{.arguments = request_.program,
                                               .working_directory = request_.working_directory,
                                               .environment = request_.environment,
                                               .held = true});
      if (!started) {
        return std::unexpected(started.error());
      }
      program_ = std::move(*started);
    }
    auto events = HitEvents::open(watched_by(request_, pid()), session_.pages);
    if (!events) {
      return std::unexpected(events.error());
    }
    events_ = std::move(*events);
    if (session_.waits) {
      if (auto added = events_->add_waits(*session_.waits, watched_by(request_, pid())); !added) {
        notes_.push_back(waits_not_recorded(added.error().message));
      }
    }
    for (const ProbeEvent& event : session_.events) {
      auto held = hold(event);
      if (!held) {
        return std::unexpected(held.error());
      }
      held_.push_back(std::move(*held));
    }
    if (duty_ >= 1) {
      if (auto set = set_probes(); !set) {
        return set;
      }
    }
    auto file = DataFile::create(session_.data_file);
    if (!file) {
      return std::unexpected(file.error());
    }
    file_ = std::move(*file);
    for (const auto& record : program_ ? Records() : records_of(request_)) {
      file_->append(record);
    }
    began_ns_ = event_clock_ns();
    next_burst_ns_ = static_cast<double>(began_ns_);
    begin_window();
    report(0);
    return program_ ? program_->release() : Result<void>();
  }

  Result<void> set_probes() {
    // Threads that start later inherit the events of the thread that started them.
    const Watched now = watched_by(request_, pid());
    for (const ProbeEvent& event : session_.events) {
      if (removed_.contains(event.id)) {
        continue;
      }
      if (auto added = events_->add(event, now); !added) {
        return added;
      }
    }
    events_->enable();
    measured_.push_back({.begin_ns = event_clock_ns(), .end_ns = UINT64_MAX});
    return {};
  }

  // Ends all probes at one instant: hits after it are dropped, whatever their probe.
  void end_interval() {
    if (!measured_.empty() && measured_.back().end_ns == UINT64_MAX) {
      measured_.back().end_ns = event_clock_ns();
      events_->disable();
    }
  }

  void remove_probes() {
    end_interval();
    events_->remove_all();
  }

  [[nodiscard]] bool is_set() const {
    return !measured_.empty() && measured_.back().end_ns == UINT64_MAX;
  }

  void pause() {
    pollfd output{
        .fd = program_ ? program_->output_descriptor() : -1, .events = POLLIN, .revents = 0};
    ::poll(&output, 1, static_cast<int>(between_reads.count()));
    if (program_) {
      program_->read_output();
    }
  }

  [[nodiscard]] bool was_measured(std::uint64_t time_ns) const {
    for (auto interval = measured_.rbegin(); interval != measured_.rend(); ++interval) {
      if (time_ns >= interval->begin_ns) {
        return time_ns <= interval->end_ns;
      }
    }
    return false;
  }

  void take(std::span<const std::byte> record) {
    constexpr std::size_t tid_at = 20; // behind the header, identifier and pid
    constexpr std::size_t type_at = 44;
    constexpr std::size_t ip_at = 52;
    perf_event_header header{};
    std::memcpy(&header, record.data(), sizeof header);
    const std::uint64_t time_ns = time_of_record(record);
    if (header.type == PERF_RECORD_SAMPLE && !events_->is_of_wait(record)) {
      std::uint64_t ip = 0;
      if (record.size() < ip_at + sizeof ip || !was_measured(time_ns)) {
        return;
      }
      std::int32_t tid = -1;
      std::uint16_t event = 0;
      std::memcpy(&tid, record.data() + tid_at, sizeof tid);
      std::memcpy(&event, record.data() + type_at, sizeof event);
      std::memcpy(&ip, record.data() + ip_at, sizeof ip);
      const double cost = session_.costs.of(event, ip);
      window_.add(tid, cost);
      whole_.add(tid, cost);
    }
    order_.add(record, time_ns);
  }

  // Takes a record in the order of time.
  void keep(std::span<const std::byte> record) {
    if (!late_) {
      file_->append(record);
      return;
    }
    constexpr std::size_t tid_at = 20;
    constexpr std::size_t raw_at = 44;
    perf_event_header header{};
    std::memcpy(&header, record.data(), sizeof header);
    const std::uint64_t time_ns = time_of_record(record);
    if (header.type == PERF_RECORD_SAMPLE &&
        !events_->is_of_wait(record)) { // its size was checked by take()
      std::int32_t tid = -1;
      std::memcpy(&tid, record.data() + tid_at, sizeof tid);
      late_->add(tid, time_ns, record.subspan(raw_at));
    }
    ring_.add(record, time_ns);
  }

  void drain() {
    events_->drain([this](std::span<const std::byte> record) { take(record); });
    if (late_) { // a call may take longer than the ring is long
      ring_.protect(late_->oldest_start());
    }
    order_.hand_on([this](std::span<const std::byte> record) { keep(record); });
  }

  // Stores what the ring contains, and describes it.
  void store_snapshot() {
    if (!late_) {
      return;
    }
    ring_.finish();
    const std::uint64_t first_ns = ring_.first_stored_ns();
    std::erase_if(measured_, [&](const Interval& each) { return each.end_ns < first_ns; });
    if (!measured_.empty()) {
      measured_.front().begin_ns = std::max(measured_.front().begin_ns, first_ns);
    }
    if (ring_.dropped() != 0) {
      notes_.push_back(make_note("snapshot_of_probes",
                                 "this is a snapshot. It contains only the last {} s",
                                 fmt::format("{:.1f}", ring_.stored_s())));
    }
    if (request_.slower_than_ns != 0) {
      notes_.push_back(late_->note());
    }
  }

  [[nodiscard]] double cpu_time_ns() const {
    return cpu_time_of(program_ ? pid() : request_.attached().value_or(-1));
  }

  void begin_window() {
    window_.clear();
    window_began_ns_ = event_clock_ns();
    window_cpu_ns_ = cpu_time_ns();
  }

  [[nodiscard]] double share_of_window() const {
    return window_.share(static_cast<double>(event_clock_ns() - window_began_ns_),
                         cpu_time_ns() - window_cpu_ns_);
  }

  Result<void> keep_within_budget() {
    const auto now = static_cast<double>(event_clock_ns());
    if (duty_ < 1) {
      return go_on_with_bursts(now);
    }
    const double age = now - static_cast<double>(window_began_ns_);
    if (session_.budget >= 1 || age < (checked_ ? window_ns : first_window_ns)) {
      return {};
    }
    checked_ = true;
    const double share = share_of_window();
    if (share > tolerated * session_.budget) {
      cut_back(share, now);
    }
    begin_window();
    return {};
  }

  void cut_back(double share, double now) {
    const auto percent = [](double value) { return fmt::format("{:.0f}", 100 * value); };
    const bool has_callees = std::ranges::any_of(session_.events, [this](const ProbeEvent& event) {
      return session_.callees.contains(event.id) && !removed_.contains(event.id);
    });
    const double seconds = (now - static_cast<double>(began_ns_)) / ns_per_s;
    if (has_callees) {
      end_interval();
      for (const std::uint64_t callee : session_.callees) {
        events_->remove(callee);
        removed_.insert(callee);
      }
      events_->enable();
      measured_.push_back({.begin_ns = event_clock_ns(), .end_ns = UINT64_MAX});
      notes_.push_back(make_note(
          "callees_stopped",
          "the functions that it calls were measured only for the first {} s, because the probes "
          "took {} % of the program's time and the budget is {} %; to measure them all the time, "
          "add --budget 100",
          fmt::format("{:.1f}", seconds), percent(share), percent(session_.budget)));
      return;
    }
    duty_ = std::max(least_duty, session_.budget / share);
    notes_.push_back(make_note(
        "bursts_begun",
        "after {} s the function was measured in bursts, because the probes took {} % of the "
        "program's time and the budget is {} %; to measure it all the time, add --budget 100",
        fmt::format("{:.1f}", seconds), percent(share), percent(session_.budget)));
    remove_probes();
    plan_burst(now);
  }

  // Plans a burst that begins now, and the next one.
  void plan_burst(double now) {
    const double wanted = request_.duration_s > 0 ? request_.duration_s * ns_per_s / 10 : 0;
    const double period = std::max(std::clamp(wanted, longest_period_ns / 10, longest_period_ns),
                                   shortest_burst_ns / duty_);
    burst_ns_ = duty_ * period;
    next_burst_ns_ = now + period;
  }

  Result<void> go_on_with_bursts(double now) {
    if (is_set()) {
      if (now - static_cast<double>(measured_.back().begin_ns) >= burst_ns_) {
        remove_probes();
        drain();
        const double share = share_of_window();
        duty_ = std::clamp(share > 0 ? session_.budget / share : 1, least_duty, most_duty);
      }
      return {};
    }
    if (now < next_burst_ns_) {
      return {};
    }
    plan_burst(now);
    auto set = set_probes();
    begin_window();
    if (!set && set.error().kind == Error::Kind::gone) {
      return {}; // should_stop() notices
    }
    return set;
  }

  void report(double done_s) const {
    constexpr double ms_per_s = 1000;
    progress_.report(
        ProgressReport{.stage = "recording",
                       .done = static_cast<std::uint64_t>(done_s * ms_per_s),
                       .total = static_cast<std::uint64_t>(request_.duration_s * ms_per_s),
                       .unit = "ms"});
  }

  bool should_stop() {
    const double done_s = static_cast<double>(event_clock_ns() - began_ns_) / ns_per_s;
    constexpr double between_reports_s = 0.1;
    if (done_s - reported_s_ >= between_reports_s) {
      reported_s_ = done_s;
      report(done_s);
    }
    if (program_ && program_->ended()) {
      return true;
    }
    const bool target_ended = request_.attached() && request_.start_time &&
                              !is_running(*request_.attached(), *request_.start_time);
    const bool has_snapshot = late_ && (late_->caught() || progress_.snapshots_asked() != 0);
    return progress_.finish_asked() || target_ended || has_snapshot ||
           (request_.duration_s > 0 && done_s >= request_.duration_s);
  }

  Result<HitSessionEnd> end() {
    end_interval();
    const std::uint64_t ended_ns = event_clock_ns();
    HitSessionEnd result;
    if (program_) {
      if (!program_->ended()) {
        program_->signal(SIGTERM);
        result.end.forced = !program_->wait(program_patience);
        program_->kill();
      }
      program_->read_output();
      result.end.wait_status = program_->ended().value_or(0);
      result.end.output = program_->output();
      result.end.last_line = program_->last_line();
    }
    drain();
    order_.hand_on_all([this](std::span<const std::byte> record) { keep(record); });
    store_snapshot();
    if (auto written = file_->finish({.events = events_->described(),
                                      .build_ids = session_.build_ids,
                                      .command_line = {"ptlens", "record"}});
        !written) {
      return std::unexpected(written.error());
    }
    const auto whole_ns = static_cast<double>(ended_ns - began_ns_);
    result.end.measured = true;
    result.end.measured_s = whole_ns / ns_per_s;
    result.measured = std::move(measured_);
    result.slowdown =
        slowdown(whole_.share(whole_ns, program_ ? 0 : cpu_time_ns() - cpu_began_ns_));
    result.notes = std::move(notes_);
    result.events = std::move(events_);
    result.held = std::move(held_);
    return result;
  }

  static constexpr double most_duty = 0.9; // the bursts of a function that is not called grow

  const HitSession& session_;
  const Request& request_;
  const Progress& progress_;
  std::optional<Child> program_;
  std::optional<HitEvents> events_;
  std::vector<Descriptor> held_;
  std::set<std::uint64_t> removed_; // events
  std::optional<DataFile> file_;
  RecordOrder order_;
  std::optional<LateCalls> late_; // nothing: everything is stored
  HitRing ring_ = HitRing({}, [this](std::span<const std::byte> record) { file_->append(record); });
  std::vector<Interval> measured_;
  std::vector<Note> notes_;
  ProbeLoad window_;
  ProbeLoad whole_;
  double duty_ = 1;
  double burst_ns_ = 0;
  double next_burst_ns_ = 0;
  std::uint64_t began_ns_ = 0;
  std::uint64_t window_began_ns_ = 0;
  double window_cpu_ns_ = 0;
  double cpu_began_ns_ = cpu_time_ns();
  bool checked_ = false;
  double reported_s_ = 0;
};

} // namespace

Result<HitSessionEnd> run_hit_session(const HitSession& session, const Progress& progress) {
  return HitRun(session, progress).go();
}

} // namespace ptlens::record
