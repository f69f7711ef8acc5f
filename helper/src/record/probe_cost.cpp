// What a probe costs: from entry to exit of an empty function, what its latency shows; from entry
// to entry, what two hits take. Medians, so that switches and interrupts do not count.
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
#include <optional>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

// Functions whose first instruction the kernel emulates, and steps over; both leave by ret.
asm(R"(
.text
.p2align 4
.type ptlens_empty_emulated, @function
ptlens_empty_emulated:
  push %rbp
  pop %rbp
ptlens_empty_emulated_exit:
  ret
.size ptlens_empty_emulated, .-ptlens_empty_emulated
.p2align 4
.type ptlens_empty_stepped, @function
ptlens_empty_stepped:
  mov %rsp, %rax
ptlens_empty_stepped_exit:
  ret
.size ptlens_empty_stepped, .-ptlens_empty_stepped
)");

extern "C" {
void ptlens_empty_emulated();
void ptlens_empty_stepped();
extern const char ptlens_empty_emulated_exit;
extern const char ptlens_empty_stepped_exit;
}

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t calls_of_each = 2000;

struct Empty {
  void (*function)();
  std::uint64_t entry;
  std::uint64_t exit;
};

std::array<Empty, 2> empty_functions() {
  const auto address = [](const void* place) {
    return reinterpret_cast<std::uint64_t>(place); // NOLINT
  };
  const auto empty = [&](void (*function)(), const char& exit) {
    return Empty{.function = function,
                 .entry = address(reinterpret_cast<const void*>(function)), // NOLINT
                 .exit = address(&exit)};
  };
  return {empty(ptlens_empty_emulated, ptlens_empty_emulated_exit),
          empty(ptlens_empty_stepped, ptlens_empty_stepped_exit)};
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

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
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
    const std::array<Empty, 2> functions = empty_functions();
    caller.pid_ = ::fork();
    if (caller.pid_ == 0) { // nothing but system calls: other threads may hold locks
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(ends[1]);
      char byte = 0;
      if (::read(ends[0], &byte, 1) == 1) {
        for (const Empty& empty : functions) {
          for (std::size_t call = 0; call < calls_of_each; ++call) {
            empty.function();
          }
        }
      }
      ::_exit(0);
    }
    if (caller.pid_ < 0) {
      return std::unexpected(Error{.message = std::strerror(errno)});
    }
    return caller;
  }

  Caller(Caller&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), go_(std::move(other.go_)) {}
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

private:
  Caller() = default;

  pid_t pid_ = -1;
  Descriptor go_;
};

struct Timed {
  std::vector<double> latencies; // from entry to exit
  std::vector<double> calls;     // from entry to entry
};

HitCost cost_of(Timed timed, double exit_hit_ns) {
  return {.latency_ns = median(std::move(timed.latencies)),
          .hit_ns = std::max(0.0, median(std::move(timed.calls)) - exit_hit_ns)};
}

Result<ProbeCost> read_cost(const std::string& data_file) {
  const auto recording = perfdata::Recording::open(data_file);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  const std::array<Empty, 2> functions = empty_functions();
  std::array<Timed, 2> timed;
  std::uint64_t entered = 0;
  for (const perfdata::Sample& sample : recording->samples()) {
    constexpr std::size_t ip_offset = 8;
    std::uint64_t ip = 0;
    if (sample.raw.size() < ip_offset + sizeof ip) {
      continue;
    }
    std::memcpy(&ip, sample.raw.data() + ip_offset, sizeof ip);
    for (std::size_t index = 0; index < functions.size(); ++index) {
      const auto since = static_cast<double>(sample.time_ns - entered);
      if (ip == functions[index].exit) {
        timed[index].latencies.push_back(since);
      } else if (ip == functions[index].entry) {
        timed[index].calls.push_back(since);
        entered = sample.time_ns;
      }
    }
  }
  for (const Timed& each : timed) {
    if (each.latencies.size() != calls_of_each || each.calls.size() != calls_of_each) {
      return std::unexpected(Error{.message = fmt::format("{} of {} calls of the calibration were "
                                                          "seen",
                                                          each.latencies.size(), calls_of_each)});
    }
  }
  // Both leave by a ret, which is stepped over: half of the call whose entry is too.
  const double stepped = median(timed[1].calls) / 2;
  return ProbeCost{.emulated = cost_of(std::move(timed[0]), stepped),
                   .stepped = cost_of(std::move(timed[1]), stepped),
                   .calls = functions.size() * calls_of_each};
}

Result<ProbeCost> record_caller(const Machine& machine, const std::string& perf,
                                const std::string& data_file) {
  auto group = ProbeGroup::make(machine.tracefs);
  if (!group) {
    return std::unexpected(group.error());
  }
  for (const Empty& empty : empty_functions()) {
    const auto entry = own_file_offset(empty.entry);
    const auto exit = own_file_offset(empty.exit);
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
  return read_cost(data_file);
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

bool is_emulated(std::span<const std::byte> code) {
  const auto byte = [&code](std::size_t index) {
    return index < code.size() ? std::to_integer<unsigned>(code[index]) : 0U;
  };
  std::size_t at = 0;
  if (byte(0) >= 0x40 && byte(0) <= 0x4f) {
    at = 1; // REX
  }
  const unsigned opcode = byte(at);
  const bool push = opcode >= 0x50 && opcode <= 0x57;
  const bool jump = opcode == 0xeb || opcode == 0xe9 || opcode == 0xe8 ||
                    (opcode >= 0x70 && opcode <= 0x7f) ||
                    (opcode == 0x0f && byte(at + 1) >= 0x80 && byte(at + 1) <= 0x8f);
  return push || (at == 0 && (jump || opcode == 0x90));
}

} // namespace ptlens::record
