#include "record/probes/cost/wait_cost.hpp"

#include "base/quantile.hpp"
#include "record/machine/wait_events.hpp"
#include "record/probes/events/hit_events.hpp"
#include "record/processes/pipe.hpp"

#include <algorithm>
#include <array>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ptlens::record {
namespace {

constexpr int turns = 20;
constexpr int rounds_a_turn = 50; // their records fit into the buffer
constexpr std::size_t pages = 128;

bool receive(const Pipe& pipe) {
  char byte = 0;
  return ::read(pipe.read_end.get(), &byte, 1) == 1;
}

void send(const Pipe& pipe) {
  [[maybe_unused]] const ssize_t written = ::write(pipe.write_end.get(), "x", 1);
}

// Keeps the calling thread, and threads that it creates, on one CPU while it exists.
class OnOneCpu {
public:
  OnOneCpu() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;
  OnOneCpu(OnOneCpu&&) = delete;
  OnOneCpu& operator=(OnOneCpu&&) = delete;

private:
  cpu_set_t before_{};
};

} // namespace

// The median of many turns leaves out those that other programs disturbed.
Result<double> measure_wait_cost(const Machine& machine) {
  const auto waits = find_wait_events(machine);
  if (!waits) {
    return std::unexpected(waits.error());
  }
  auto there = make_pipe();
  auto back = make_pipe();
  if (!there || !back) {
    return std::unexpected(there ? back.error() : there.error());
  }
  const OnOneCpu one_cpu;
  const std::vector<int> cpus = {::sched_getcpu()};
  const Watched watched{.threads = {static_cast<std::int32_t>(::gettid())}, .cpus = cpus};
  auto events = HitEvents::open(watched, pages);
  if (!events) {
    return std::unexpected(events.error());
  }
  if (auto added = events->add_waits(*waits, watched); !added) {
    return std::unexpected(added.error());
  }
  const std::jthread other([&there, &back] {
    while (receive(*there)) {
      send(*back);
    }
  });
  std::vector<double> costs;
  for (int turn = 0; turn < turns; ++turn) {
    std::array<double, 2> took{};
    std::size_t records = 0;
    for (const bool recorded : {false, true}) {
      if (recorded) {
        events->enable();
      }
      const std::uint64_t begin = event_clock_ns();
      for (int round = 0; round < rounds_a_turn; ++round) {
        send(*there);
        receive(*back);
      }
      took[recorded ? 1 : 0] = static_cast<double>(event_clock_ns() - begin);
      events->disable();
      events->drain([&](std::span<const std::byte> record) {
        records += events->is_of_wait(record) ? 1 : 0;
      });
    }
    if (records > 0) {
      costs.push_back((took[1] - took[0]) / static_cast<double>(records));
    }
  }
  there->write_end = Descriptor(); // the other thread ends
  if (costs.empty()) {
    return std::unexpected(Error{.message = "no wait of the calibration was recorded"});
  }
  return std::max(0.0, median(costs));
}

} // namespace ptlens::record
