#include "record/uftrace/uftrace_session.hpp"

#include "record/processes/child.hpp"
#include "record/processes/process_stat.hpp"
#include "record/uftrace/patch_log.hpp"
#include "uftrace/task_list.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <poll.h>
#include <set>
#include <system_error>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds tick{20};
constexpr milliseconds patience{3'000};      // for the program to end on request
constexpr milliseconds longest_stop{60'000}; // uftrace writes the rest of its data
constexpr double ms_per_s = 1000;

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Sends the signal to all descendants of the process.
void signal_descendants(std::int32_t pid, int number) {
  std::map<std::int32_t, std::int32_t> parents;
  std::error_code ended;
  for (fs::directory_iterator at("/proc", ended), end; !ended && at != end; at.increment(ended)) {
    const int candidate = std::atoi(at->path().filename().c_str());
    if (const auto stat = candidate > 0 ? process_stat(candidate) : std::nullopt) {
      parents[candidate] = stat->parent;
    }
  }
  std::set<std::int32_t> found = {pid};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const auto& [child, parent] : parents) {
      if (found.contains(parent)) {
        found.insert(child);
      }
    }
  }
  found.erase(pid);
  for (const std::int32_t descendant : found) {
    ::kill(descendant, number);
  }
}

class Run {
public:
  Run(const UftraceSession& session, const Progress& progress, Child child)
      : session_(session), progress_(progress), child_(std::move(child)) {}

  Result<UftraceEnd> go() {
    while (!child_.ended()) {
      if (progress_.cancelled()) {
        abandon();
        return std::unexpected(
            Error{.kind = Error::Kind::cancelled, .message = "the recording was cancelled"});
      }
      pause();
      const Clock::time_point now = Clock::now();
      if (!stopped_ && should_stop(now)) {
        stopped_ = now;
        signal_descendants(child_.pid(), SIGTERM);
      }
      if (stopped_) {
        insist(now - *stopped_);
      }
    }
    return end();
  }

private:
  void pause() {
    pollfd waited{.fd = child_.output_descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, static_cast<int>(tick.count()));
    child_.read_output();
    std::error_code failed;
    if (!begun_ && fs::exists(fs::path(session_.folder) / "task.txt", failed)) {
      begun_ = Clock::now();
      reported_ = *begun_;
    }
  }

  bool should_stop(Clock::time_point now) {
    if (progress_.finish_asked()) {
      return true;
    }
    if (!begun_) {
      return false;
    }
    const double done_s = seconds(now - *begun_);
    if (now - reported_ >= milliseconds(100)) {
      reported_ = now;
      progress_.report({.stage = "recording",
                        .done = static_cast<std::uint64_t>(done_s * ms_per_s),
                        .total = static_cast<std::uint64_t>(session_.duration_s * ms_per_s),
                        .unit = "ms"});
    }
    full_ = session_.most_bytes != 0 && recorded_bytes() >= session_.most_bytes;
    return full_ || (session_.duration_s > 0 && done_s >= session_.duration_s);
  }

  [[nodiscard]] std::uint64_t recorded_bytes() const {
    std::uint64_t sum = 0;
    std::error_code ended;
    for (fs::directory_iterator at(session_.folder, ended), end; !ended && at != end;
         at.increment(ended)) {
      std::error_code failed;
      const std::uintmax_t size =
          at->path().extension() == ".dat" ? fs::file_size(at->path(), failed) : 0;
      sum += failed ? 0 : size;
    }
    return sum;
  }

  void insist(Clock::duration waited) {
    if (waited > patience && !killed_) {
      killed_ = true;
      signal_descendants(child_.pid(), SIGKILL);
    }
    if (waited > longest_stop) {
      forced_ = true;
      child_.kill();
    }
  }

  void abandon() {
    signal_descendants(child_.pid(), SIGKILL);
    static_cast<void>(child_.wait(patience));
    child_.kill();
    remove_shared_memory();
  }

  // libmcount's buffers are in files "/dev/shm/uftrace-SESSION-TID-NUMBER". uftrace removes them
  // when it ends by itself.
  void remove_shared_memory() const {
    const auto tasks = uftrace::read_task_list((fs::path(session_.folder) / "task.txt").string());
    if (!tasks) {
      return;
    }
    for (const uftrace::Session& session : tasks->sessions) {
      const std::string prefix = fmt::format("uftrace-{}-", session.id);
      std::error_code ended;
      for (fs::directory_iterator at("/dev/shm", ended), end; !ended && at != end;
           at.increment(ended)) {
        if (at->path().filename().string().starts_with(prefix)) {
          std::error_code ignored;
          fs::remove(at->path(), ignored);
        }
      }
    }
  }

  UftraceEnd end() {
    child_.read_output();
    UftraceEnd result;
    result.measured_s = begun_ ? seconds(stopped_.value_or(Clock::now()) - *begun_) : 0;
    result.wait_status = child_.ended().value_or(0);
    result.stopped = stopped_.has_value();
    result.full = full_;
    result.forced = forced_;
    result.bytes = recorded_bytes();
    result.last_line = last_plain_line(child_.output());
    if (forced_) {
      remove_shared_memory();
    }
    return result;
  }

  const UftraceSession& session_;
  const Progress& progress_;
  Child child_;
  std::optional<Clock::time_point> begun_;
  std::optional<Clock::time_point> stopped_;
  Clock::time_point reported_;
  bool full_ = false;
  bool killed_ = false;
  bool forced_ = false;
};

} // namespace

Result<UftraceEnd> run_uftrace(const UftraceSession& session, const Progress& progress) {
  auto child = Child::start(ChildOptions{.arguments = session.command,
                                         .working_directory = session.working_directory,
                                         .environment = session.environment});
  if (!child) {
    return std::unexpected(child.error());
  }
  return Run(session, progress, std::move(*child)).go();
}

} // namespace ptlens::record
