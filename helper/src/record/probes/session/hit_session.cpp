// A probe that is only disabled still stops the program, so that bursts set and remove the
// breakpoints. hit_events.hpp says why that is quick. The load is checked in windows; a callee's
// probes go first, then the function is measured in bursts.
#include "record/probes/session/hit_session.hpp"

#include "record/probes/cost/load_meter.hpp"
#include "record/probes/events/hit_events.hpp"
#include "record/probes/session/burst_schedule.hpp"
#include "record/probes/session/data_file.hpp"
#include "record/probes/session/hit_store.hpp"
#include "record/probes/session/outside_wakers.hpp"
#include "record/probes/session/started_program.hpp"
#include "record/probes/session/watched_target.hpp"
#include "record/processes/child.hpp"
#include "record/processes/process_stat.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr std::chrono::milliseconds between_reads{4};
constexpr double ns_per_s = 1e9;
constexpr double first_window_ns = 50e6;
constexpr double window_ns = 200e6;

class HitRun {
public:
  HitRun(const HitSession& session, const Progress& progress)
      : session_(session), request_(*session.request), progress_(progress) {}

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
    auto program = start_program(request_);
    if (!program) {
      return std::unexpected(program.error());
    }
    program_ = std::move(*program);
    auto events = HitEvents::open(watched_by(request_, pid()), session_.pages);
    if (!events) {
      return std::unexpected(events.error());
    }
    events_ = std::move(*events);
    if (session_.waits) {
      add_waits(watched_by(request_, pid()));
    }
    for (const ProbeEvent& event : session_.events) {
      auto held = hold(event);
      if (!held) {
        return std::unexpected(held.error());
      }
      held_.push_back(std::move(*held));
    }
    if (session_.in_bursts) {
      begin_bursts(now_ns());
      begin_time();
    }
    if (auto set = set_probes(); !set) {
      return set;
    }
    if (!session_.in_bursts) {
      begin_time();
    }
    if (auto opened = open_data_file(); !opened) {
      return opened;
    }
    report(0);
    return program_ ? program_->release() : Result<void>();
  }

  void add_waits(const Watched& watched) {
    if (auto added = events_->add_waits(*session_.waits, watched); !added) {
      notes_.push_back(waits_not_recorded(added.error().message));
      return;
    }
    if (!watched.threads.empty()) {
      outside_.emplace(*session_.waits, watched);
      if (auto opened = outside_->open(*events_); !opened) {
        notes_.push_back(outside_wakers_not_recorded(opened.error().message));
        outside_.reset();
      }
    }
  }

  // The file is there once the probes are set, so that scripts can wait for it.
  Result<void> open_data_file() {
    auto file = DataFile::create(session_.data_file);
    if (!file) {
      return std::unexpected(file.error());
    }
    store_.emplace(std::move(*file), *events_, session_.snapshot, request_.slower_than_ns);
    for (const auto& record : program_ ? Records() : records_of(request_)) {
      store_->file().append(record);
    }
    return {};
  }

  void begin_time() {
    began_ns_ = event_clock_ns();
    meter_.begin(program_ ? pid() : request_.attached().value_or(-1), now_ns());
  }

  Result<void> set_probes() {
    // Threads that start later inherit the events of the thread that started them.
    const Watched now = watched_by(request_, pid());
    for (const ProbeEvent& event : session_.events) {
      if (auto added = is_left_out(event) ? Result<void>() : events_->add(event, now); !added) {
        return added;
      }
    }
    events_->enable();
    measured_.push_back({.begin_ns = event_clock_ns(), .end_ns = UINT64_MAX});
    return {};
  }

  // Ends all probes at one instant: hits after it are dropped, whatever their probe.
  void end_interval() {
    if (is_set()) {
      measured_.back().end_ns = event_clock_ns();
      events_->disable();
    }
  }

  void remove_probes() {
    end_interval();
    events_->remove_all();
  }

  [[nodiscard]] bool is_left_out(const ProbeEvent& event) const {
    return callees_end_ns_ != 0 && session_.callees.contains(event.id);
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
    const std::uint64_t time_ns = time_of_record(record);
    const bool from_outside = events_->is_from_outside(record);
    const auto woken = outside_ ? outside_->take(record, from_outside) : std::nullopt;
    if (from_outside && !is_sample(record)) {
      return; // the starts and names of other processes
    }
    if (is_sample(record) && !events_->is_of_wait(record)) {
      const auto hit = hit_of_sample(record);
      if (!hit || !was_measured(time_ns)) {
        return;
      }
      meter_.hit(hit->tid, costs_.take(hit->event_id, hit->ip, hit->tid, time_ns));
    } else if (is_sample(record)) {
      // Another process makes the record, but the thread that it wakes starts later for it.
      meter_.hit(woken.value_or(tid_of_sample(record)), session_.wait_ns);
    }
    store_->add(record, time_ns);
  }

  void drain() {
    events_->drain([this](std::span<const std::byte> record) { take(record); });
    store_->hand_on();
    if (outside_ && is_set()) {
      outside_->renew(*events_, event_clock_ns());
    }
  }

  [[nodiscard]] static double now_ns() { return static_cast<double>(event_clock_ns()); }

  Result<void> keep_within_budget() {
    const double now = now_ns();
    if (bursts_) {
      return go_on_with_bursts(now);
    }
    // A window in which the hits have taken the time of a whole one already need not go on.
    if (!session_.budget.is_limited() ||
        (meter_.age_ns(now) < (checked_ ? window_ns : first_window_ns) &&
         meter_.window().most() < session_.budget.most() * window_ns)) {
      return {};
    }
    checked_ = true;
    meter_.read(now);
    if (meter_.share() > session_.budget.most()) {
      cut_back(meter_.share(), now);
    }
    if (!bursts_) {
      meter_.begin_window(now_ns());
    }
    return {};
  }

  void cut_back(double share, double now) {
    const double seconds = (now - static_cast<double>(began_ns_)) / ns_per_s;
    if (!session_.callees.empty() && callees_end_ns_ == 0) {
      callees_end_ns_ = event_clock_ns();
      for (const std::uint64_t callee : session_.callees) {
        events_->remove(callee);
      }
      drain(); // their last hits belong to this window
      notes_.push_back(callees_stopped_note(seconds, share, session_.budget.whole()));
      return;
    }
    notes_.push_back(bursts_begun_note(seconds, share, session_.budget.whole()));
    begin_bursts(now - meter_.age_ns(now));
    end_burst();
  }

  // The first burst began at that time.
  void begin_bursts(double began_ns) {
    bursts_.emplace(session_.budget.planned(), request_.duration_s * ns_per_s);
    bursts_->begin_burst(began_ns);
  }

  // While probes are set and removed, they are hit but nothing is recorded.
  void end_burst() {
    remove_probes();
    const double now = now_ns();
    drain();
    const auto recorded = static_cast<double>(measured_.back().end_ns - measured_.back().begin_ns);
    if (recorded > 0) {
      meter_.scale(std::max(1.0, meter_.age_ns(now) / recorded));
    }
    look_again_ns_ = now;
  }

  Result<void> go_on_with_bursts(double now) {
    if (is_set()) {
      if (bursts_->should_end(now, meter_.window())) {
        end_burst();
      }
      return {};
    }
    if (now < look_again_ns_) {
      return {};
    }
    meter_.read(now);
    look_again_ns_ = now + bursts_->pause_ns(now, meter_.share());
    if (look_again_ns_ > now) {
      return {};
    }
    meter_.begin_window(now);
    bursts_->begin_burst(now);
    auto set = set_probes();
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
    const bool has_snapshot =
        store_->is_snapshot() && (store_->caught() || progress_.snapshots_asked() != 0);
    return progress_.finish_asked() || target_ended || has_snapshot ||
           (request_.duration_s > 0 && done_s >= request_.duration_s);
  }

  Result<HitSessionEnd> end() {
    const bool was_set = is_set();
    end_interval();
    const std::uint64_t ended_ns = was_set ? measured_.back().end_ns : event_clock_ns();
    meter_.read(static_cast<double>(ended_ns));
    HitSessionEnd result;
    if (program_) {
      end_program(*program_, result.end);
    }
    drain();
    auto more = store_->finish(measured_);
    notes_.insert(notes_.end(), more.begin(), more.end());
    for (const auto& record : outside_ ? outside_->name_records() : Records()) {
      store_->file().append(record);
    }
    if (auto written = store_->file().finish({.events = events_->described(),
                                              .build_ids = session_.build_ids,
                                              .command_line = {"ptlens", "record"}});
        !written) {
      return std::unexpected(written.error());
    }
    result.end.measured = true;
    result.end.measured_s = static_cast<double>(ended_ns - began_ns_) / ns_per_s;
    result.measured = std::move(measured_);
    result.end_ns = ended_ns;
    result.callees_end_ns = callees_end_ns_;
    result.slowdown = slowdown(meter_.whole_share());
    result.costs = std::move(costs_);
    result.notes = std::move(notes_);
    result.events = std::move(events_);
    result.held = std::move(held_);
    return result;
  }

  const HitSession& session_;
  const Request& request_;
  const Progress& progress_;
  std::optional<Child> program_;
  std::optional<HitEvents> events_;
  std::vector<Descriptor> held_;
  std::optional<HitStore> store_;
  std::optional<OutsideWakers> outside_;
  std::vector<Interval> measured_;
  std::vector<Note> notes_;
  HitCosts costs_ = session_.costs;
  LoadMeter meter_;
  std::optional<BurstSchedule> bursts_; // nothing: all of the time
  double look_again_ns_ = 0;            // whether the next burst may begin
  std::uint64_t began_ns_ = 0;
  std::uint64_t callees_end_ns_ = 0; // 0: their probes are set
  bool checked_ = false;
  double reported_s_ = 0;
};

} // namespace

Result<HitSessionEnd> run_hit_session(const HitSession& session, const Progress& progress) {
  return HitRun(session, progress).go();
}

} // namespace ptlens::record
