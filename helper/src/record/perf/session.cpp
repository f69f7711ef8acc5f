// The command "enable" is sent at once. perf answers it when all events are open, and then the
// duration starts.
#include "record/perf/session.hpp"

#include "record/processes/child.hpp"
#include "record/processes/process_stat.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <memory>
#include <poll.h>
#include <sys/types.h>

namespace ptlens::record {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds tick{20};
constexpr milliseconds short_tick{2}; // while waiting for a slow call
constexpr milliseconds between_drains{200};
constexpr milliseconds time_to_save{200};       // perf saves a snapshot in its next loop
constexpr milliseconds longest_start{120'000};  // perf opens an event per thread and CPU
constexpr milliseconds longest_stop{60'000};    // perf writes the rest of its buffers
constexpr milliseconds program_patience{3'000}; // for a started program to end on request

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// perf waits for the program that it started, even when that ignores SIGTERM.
void kill_children_of(std::int32_t pid) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) {
    return;
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    const int candidate = std::atoi(entry->d_name);
    if (candidate <= 0) {
      continue;
    }
    const auto stat = process_stat(candidate);
    if (stat && stat->parent == pid) {
      ::kill(candidate, SIGKILL);
    }
  }
}

class Run {
public:
  Run(const Session& session, PerfControl control, const Progress& progress, Child perf)
      : session_(session), control_(std::move(control)), progress_(progress),
        perf_(std::move(perf)) {}

  Result<SessionEnd> go() {
    control_.close_child_ends();
    control_.send("enable");
    const Clock::time_point asked = Clock::now();
    while (!perf_.ended()) {
      if (progress_.cancelled()) {
        return std::unexpected(
            Error{.kind = Error::Kind::cancelled, .message = "the recording was cancelled"});
      }
      pause();
      const Clock::time_point now = Clock::now();
      if (!begun_ && now - asked > longest_start) {
        return std::unexpected(Error{
            .message = fmt::format("perf did not start to record within {:.0f} s: {}",
                                   seconds(longest_start), perf_.last_line()),
            .remedy =
                "record a process with fewer threads, or run perf by hand to see its output"});
      }
      if (!stop_asked_ && should_stop(now)) {
        ask_to_stop(now);
      }
      if (stop_asked_) {
        insist(now);
      }
    }
    return end();
  }

private:
  void pause() {
    std::array<pollfd, 2> waited{
        pollfd{.fd = perf_.output_descriptor(), .events = POLLIN, .revents = 0},
        pollfd{.fd = answers_open_ ? control_.answer_descriptor() : -1,
               .events = POLLIN,
               .revents = 0}};
    ::poll(waited.data(), waited.size(),
           static_cast<int>((session_.caught ? short_tick : tick).count()));
    perf_.read_output();
    if (!answers_open_) {
      return;
    }
    const PerfControl::Answer answer = control_.answer();
    answers_open_ = answer != PerfControl::Answer::closed;
    if (answer == PerfControl::Answer::acknowledged && !begun_) {
      begun_ = Clock::now();
      reported_ = *begun_;
      report(0);
    }
    if (begun_) {
      take_snapshots();
      drain();
    }
  }

  // perf sleeps until a buffer is a quarter full. Each command wakes it, and it then writes what
  // all buffers have.
  void drain() {
    const Clock::time_point now = Clock::now();
    if (session_.drains && !stop_asked_ && now - drained_ >= between_drains) {
      drained_ = now;
      control_.send("ping");
    }
  }

  void take_snapshots() {
    if (session_.snapshots && progress_.snapshots_asked() != seen_requests_) {
      seen_requests_ = progress_.snapshots_asked();
      snapshots_ += static_cast<unsigned>(control_.send("snapshot"));
    }
    if (session_.caught && !caught_ && session_.caught() && control_.send("snapshot")) {
      caught_ = Clock::now();
      ++snapshots_;
    }
  }

  void report(double done_s) const {
    constexpr double ms_per_s = 1000;
    progress_.report(
        ProgressReport{.stage = session_.stage,
                       .done = static_cast<std::uint64_t>(done_s * ms_per_s),
                       .total = static_cast<std::uint64_t>(session_.duration_s * ms_per_s),
                       .unit = "ms"});
  }

  bool should_stop(Clock::time_point now) {
    if (begun_) {
      const double done = seconds(now - *begun_);
      if (now - reported_ >= milliseconds(100)) {
        reported_ = now;
        report(done);
      }
      if (session_.duration_s > 0 && done >= session_.duration_s) {
        return true;
      }
    }
    return progress_.finish_asked() || (caught_ && now - *caught_ > time_to_save) ||
           (session_.watched_pid > 0 &&
            !is_running(session_.watched_pid, session_.watched_start_time));
  }

  void ask_to_stop(Clock::time_point now) {
    stop_asked_ = now;
    if (!begun_ || !control_.send("stop")) {
      perf_.signal(SIGTERM);
    }
  }

  void insist(Clock::time_point now) {
    const auto waited = now - *stop_asked_;
    if (waited > program_patience && !children_killed_) {
      children_killed_ = true;
      kill_children_of(perf_.pid());
    }
    if (waited > longest_stop && !terminated_) {
      terminated_ = true;
      perf_.signal(SIGTERM);
    }
    if (waited > longest_stop + program_patience) {
      forced_ = true;
      perf_.kill();
    }
  }

  SessionEnd end() {
    perf_.read_output();
    if (!begun_ && control_.answer() == PerfControl::Answer::acknowledged) {
      begun_ = Clock::now(); // the program ended at once
    }
    const Clock::time_point stopped = stop_asked_.value_or(Clock::now());
    SessionEnd result;
    result.measured = begun_.has_value();
    result.wait_status = perf_.ended().value_or(0);
    result.forced = forced_;
    result.measured_s = begun_ ? seconds(stopped - *begun_) : 0;
    result.snapshots = snapshots_;
    result.output = perf_.output();
    result.last_line = perf_.last_line();
    return result;
  }

  const Session& session_;
  PerfControl control_;
  const Progress& progress_;
  Child perf_;
  std::optional<Clock::time_point> begun_;
  std::optional<Clock::time_point> stop_asked_;
  Clock::time_point reported_;
  Clock::time_point drained_;
  std::optional<Clock::time_point> caught_;
  unsigned seen_requests_ = 0;
  unsigned snapshots_ = 0;
  bool answers_open_ = true;
  bool children_killed_ = false;
  bool terminated_ = false;
  bool forced_ = false;
};

} // namespace

Session session_of(const Request& request, const std::vector<std::string>& command) {
  Session session;
  session.arguments = command;
  session.duration_s = request.duration_s;
  if (!request.program.empty()) {
    session.working_directory = request.working_directory;
    session.environment = request.environment;
  }
  if (request.attached() && request.start_time) {
    session.watched_pid = *request.attached();
    session.watched_start_time = *request.start_time;
  }
  return session;
}

Result<SessionEnd> run_session(const Session& session, PerfControl control,
                               const Progress& progress) {
  const auto [command, answer] = control.child_ends();
  auto perf = Child::start(ChildOptions{.arguments = session.arguments,
                                        .working_directory = session.working_directory,
                                        .environment = session.environment,
                                        .inherited = {command, answer}});
  if (!perf) {
    return std::unexpected(perf.error());
  }
  return Run(session, std::move(control), progress, std::move(*perf)).go();
}

} // namespace ptlens::record
