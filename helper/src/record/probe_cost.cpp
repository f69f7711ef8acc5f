// What a probe costs: what the latency of a function shows from entry to exit, and what two hits
// take from entry to entry, beyond the time that the function knows it has spent. Medians, so that
// switches and interrupts do not count; how far they may be off is half of what nine of ten calls
// lie within.
#include "record/probe_cost.hpp"

#include "perfdata/recording.hpp"
#include "record/finish.hpp"
#include "record/perf_command.hpp"
#include "record/probe_events.hpp"
#include "record/proc.hpp"
#include "record/session.hpp"
#include "record/tracefs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <time.h> // NOLINT: POSIX
#include <unistd.h>
#include <utility>
#include <vector>

// Functions whose first instruction the kernel emulates, and steps over; both leave by ret. Each
// spins for at least rdi ticks of the time stamp counter, since what a hit costs depends on how
// long ago the last one was, and returns how many it has spun for.
asm(R"(
.macro ptlens_spin
  rdtsc
  shl $32, %rdx
  or %rdx, %rax
  mov %rax, %rcx
1:
  rdtsc
  shl $32, %rdx
  or %rdx, %rax
  sub %rcx, %rax
  cmp %rdi, %rax
  jb 1b
.endm
.text
.p2align 4
.globl ptlens_spin_emulated, ptlens_spin_emulated_exit
.hidden ptlens_spin_emulated, ptlens_spin_emulated_exit
.type ptlens_spin_emulated, @function
ptlens_spin_emulated:
  push %rbp
  pop %rbp
  ptlens_spin
ptlens_spin_emulated_exit:
  ret
.size ptlens_spin_emulated, .-ptlens_spin_emulated
.p2align 4
.globl ptlens_spin_stepped, ptlens_spin_stepped_exit
.hidden ptlens_spin_stepped, ptlens_spin_stepped_exit
.type ptlens_spin_stepped, @function
ptlens_spin_stepped:
  mov %rsp, %rax
  ptlens_spin
ptlens_spin_stepped_exit:
  ret
.size ptlens_spin_stepped, .-ptlens_spin_stepped
)");

extern "C" {
std::uint64_t ptlens_spin_emulated(std::uint64_t ticks);
std::uint64_t ptlens_spin_stepped(std::uint64_t ticks);
extern const char ptlens_spin_emulated_exit;
extern const char ptlens_spin_stepped_exit;
}

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t calls_of_each = 2000;
// What a hit costs changes from one tenth of a second to the next, with what the other processors
// of the host do: by as much as this share of it, as seen on virtual machines.
constexpr double drift = 0.5;

using SpinFunction = std::uint64_t (*)(std::uint64_t ticks);

struct Spin {
  SpinFunction function;
  std::uint64_t entry;
  std::uint64_t exit;
};

std::array<Spin, 2> spin_functions() {
  const auto address = [](const void* place) {
    return reinterpret_cast<std::uint64_t>(place); // NOLINT
  };
  const auto spin = [&](SpinFunction function, const char& exit) {
    return Spin{.function = function,
                .entry = address(reinterpret_cast<const void*>(function)), // NOLINT
                .exit = address(&exit)};
  };
  return {spin(ptlens_spin_emulated, ptlens_spin_emulated_exit),
          spin(ptlens_spin_stepped, ptlens_spin_stepped_exit)};
}

// Where in our own program file an address of this process lies.
std::optional<std::uint64_t> own_file_offset(std::uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream text(line);
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    char dash = 0;
    std::string rights;
    if (text >> std::hex >> start >> dash >> end >> rights >> offset && address >= start &&
        address < end) {
      return address - start + offset;
    }
  }
  return std::nullopt;
}

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, place);
  return *place;
}

double median(std::vector<double>& values) {
  return quantile(values, 0.5);
}

// What the child tells of its calls, in memory that it shares.
struct Spent {
  double ticks_a_ns = 0;
  std::array<std::array<std::uint64_t, calls_of_each>, 2> ticks = {}; // within each function
};

double monotonic_ns() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// By turns, some calls of each function at a time and then a pause: the speed of the processor
// changes within some milliseconds.
void call_all(const std::array<Spin, 2>& functions, Spent& spent) {
  constexpr double rate_over_ns = 2e6;
  constexpr double spin_ns = 2000;
  constexpr std::size_t calls_a_turn = 100;
  constexpr timespec pause = {.tv_sec = 0, .tv_nsec = 2'000'000};
  const double begin_ns = monotonic_ns();
  const std::uint64_t begin = __builtin_ia32_rdtsc();
  double now_ns = begin_ns;
  while (now_ns - begin_ns < rate_over_ns) {
    now_ns = monotonic_ns();
  }
  spent.ticks_a_ns = static_cast<double>(__builtin_ia32_rdtsc() - begin) / (now_ns - begin_ns);
  const auto ticks = static_cast<std::uint64_t>(spin_ns * spent.ticks_a_ns);
  for (std::size_t turn = 0; turn < calls_of_each; turn += calls_a_turn) {
    for (std::size_t index = 0; index < functions.size(); ++index) {
      for (std::size_t call = turn; call < turn + calls_a_turn; ++call) {
        spent.ticks[index][call] = functions[index].function(ticks);
      }
    }
    ::nanosleep(&pause, nullptr);
  }
}

// A child that waits for a byte, calls the functions, and ends.
class Caller {
public:
  static Result<Caller> start() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return std::unexpected(Error{.message = std::strerror(errno)});
    }
    Descriptor read_end(ends[0]);
    Caller caller;
    caller.go_ = Descriptor(ends[1]);
    void* const shared =
        ::mmap(nullptr, sizeof(Spent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) { // NOLINT
      return std::unexpected(Error{.message = std::strerror(errno)});
    }
    caller.spent_.reset(new (shared) Spent());
    const std::array<Spin, 2> functions = spin_functions();
    caller.pid_ = ::fork();
    if (caller.pid_ == 0) { // nothing but system calls: other threads may hold locks
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(ends[1]);
      char byte = 0;
      if (::read(ends[0], &byte, 1) == 1) {
        call_all(functions, *caller.spent_);
      }
      ::_exit(0);
    }
    if (caller.pid_ < 0) {
      return std::unexpected(Error{.message = std::strerror(errno)});
    }
    return caller;
  }

  Caller(Caller&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), go_(std::move(other.go_)),
        spent_(std::move(other.spent_)) {}
  Caller& operator=(Caller&&) = delete;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] std::int32_t pid() const { return pid_; }
  void go() const { [[maybe_unused]] const ssize_t written = ::write(go_.get(), "x", 1); }

  // Once it has ended.
  [[nodiscard]] const Spent& spent() const { return *spent_; }

private:
  struct Unmap {
    void operator()(Spent* spent) const { ::munmap(spent, sizeof *spent); }
  };

  Caller() = default;

  pid_t pid_ = -1;
  Descriptor go_;
  std::unique_ptr<Spent, Unmap> spent_;
};

// When the calls of one function began and ended, ns.
struct Hits {
  std::vector<std::uint64_t> entries;
  std::vector<std::uint64_t> exits;
};

// Without the time within the function, ns.
struct Timed {
  std::vector<double> latencies; // from entry to exit
  std::vector<double> calls;     // from entry to entry
};

Timed timed(const Hits& hits, std::span<const std::uint64_t> ticks, double ticks_a_ns) {
  Timed timed;
  for (std::size_t call = 0; call < ticks.size(); ++call) {
    const double inside = static_cast<double>(ticks[call]) / ticks_a_ns;
    const auto since_entry = [&](std::uint64_t time_ns) {
      return static_cast<double>(time_ns - hits.entries[call]) - inside;
    };
    timed.latencies.push_back(since_entry(hits.exits[call]));
    if (call + 1 < ticks.size()) {
      timed.calls.push_back(since_entry(hits.entries[call + 1]));
    }
  }
  return timed;
}

HitCost cost_of(Timed& timed, double exit_hit_ns) {
  return {.latency_ns = median(timed.latencies),
          .hit_ns = std::max(0.0, median(timed.calls) - exit_hit_ns),
          .uncertainty_ns = quantile(timed.latencies, 0.95) - quantile(timed.latencies, 0.05)};
}

Result<ProbeCost> read_cost(const std::string& data_file, const Spent& spent) {
  const auto recording = perfdata::Recording::open(data_file);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  const std::array<Spin, 2> functions = spin_functions();
  std::array<Hits, 2> hits;
  for (const perfdata::Sample& sample : recording->samples()) {
    constexpr std::size_t ip_offset = 8;
    std::uint64_t ip = 0;
    if (sample.raw.size() < ip_offset + sizeof ip) {
      continue;
    }
    std::memcpy(&ip, sample.raw.data() + ip_offset, sizeof ip);
    for (std::size_t index = 0; index < functions.size(); ++index) {
      if (ip == functions[index].exit) {
        hits[index].exits.push_back(sample.time_ns);
      } else if (ip == functions[index].entry) {
        hits[index].entries.push_back(sample.time_ns);
      }
    }
  }
  for (const Hits& each : hits) {
    if (each.entries.size() != calls_of_each || each.exits.size() != calls_of_each) {
      return std::unexpected(Error{.message = fmt::format("{} of {} calls of the calibration were "
                                                          "seen",
                                                          each.exits.size(), calls_of_each)});
    }
  }
  Timed emulated = timed(hits[0], spent.ticks[0], spent.ticks_a_ns);
  Timed stepped = timed(hits[1], spent.ticks[1], spent.ticks_a_ns);
  // Both leave by a ret, which is stepped over: half of the call whose entry is too.
  const double exit_hit_ns = median(stepped.calls) / 2;
  ProbeCost cost{.emulated = cost_of(emulated, exit_hit_ns),
                 .stepped = cost_of(stepped, exit_hit_ns),
                 .calls = functions.size() * calls_of_each};
  for (HitCost* const each : {&cost.emulated, &cost.stepped}) {
    each->uncertainty_ns = std::max(each->uncertainty_ns, each->latency_ns * drift);
  }
  return cost;
}

Result<ProbeCost> record_caller(const Machine& machine, const std::string& perf,
                                const std::string& data_file) {
  auto group = ProbeGroup::make(machine.tracefs);
  if (!group) {
    return std::unexpected(group.error());
  }
  for (const Spin& spin : spin_functions()) {
    const auto entry = own_file_offset(spin.entry);
    const auto exit = own_file_offset(spin.exit);
    if (!entry || !exit) {
      return std::unexpected(Error{.message = "our own code is not mapped from a file"});
    }
    for (const auto& added : {group->add("return", "/proc/self/exe", *exit, exit_arguments),
                              group->add("entry", "/proc/self/exe", *entry, entry_arguments)}) {
      if (!added) {
        return std::unexpected(added.error());
      }
    }
  }
  auto control = PerfControl::make();
  if (!control) {
    return std::unexpected(control.error());
  }
  const auto caller = Caller::start();
  if (!caller) {
    return std::unexpected(caller.error());
  }
  Request request;
  request.pid = caller->pid();
  const auto stat = process_stat(caller->pid());
  request.start_time = stat ? stat->start_time : 0;
  const std::vector<std::string> command = uprobe_command(
      request, machine,
      PerfSetting{.perf = perf, .data_file = data_file, .control = control->argument()},
      {{.name = group->name() + "/return"}, {.name = group->name() + "/entry"}});
  const Progress when_measuring([&caller, begun = false](const ProgressReport&) mutable {
    if (!std::exchange(begun, true)) {
      caller->go();
    }
  });
  const auto end = run_session(session_of(request, command), std::move(*control), when_measuring);
  if (!end) {
    return std::unexpected(end.error());
  }
  return read_cost(data_file, caller->spent());
}

} // namespace

Result<ProbeCost> measure_probe_cost(const Machine& machine, const std::string& perf,
                                     const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  auto cost = record_caller(machine, perf, folder + "/perf.data");
  fs::remove_all(folder, failed);
  return cost;
}

} // namespace ptlens::record
