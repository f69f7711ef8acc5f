// The command lines of perf for 22 requests. Options and terms are those of perf-record(1) and
// perf-intel-pt(1); buffer sizes are calculated by hand from the kernel's rules.
#include "record/perf/perf_command.hpp"
#include "record/perf/trace_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>

namespace ptlens::record::test {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// 8 GiB for 2 CPUs: a sixteenth for data is capped at 16 MiB each, an eighth for trace at 64 MiB.
Machine root_machine() {
  Machine machine;
  machine.cpus = 2;
  machine.page_size = 4096;
  machine.memory = 8 * gib;
  machine.rights.root = true;
  machine.intel_pt = IntelPtCapabilities{.cycle_packets = true,
                                         .mini_time_counter = true,
                                         .mtc_periods = 0x249, // 0, 3, 6, 9: Skylake
                                         .psb_periods = 0x3f,
                                         .ip_filtering = true,
                                         .address_filters = 2};
  return machine;
}

// 516 KiB for each of 2 CPUs.
Machine user_machine() {
  Machine machine = root_machine();
  machine.rights = {};
  machine.mlock_kb = 516;
  return machine;
}

Request request_of(const std::function<void(Request&)>& change) {
  Request request;
  request.pid = 42;
  request.function = "f";
  request.duration_s = 2;
  change(request);
  return request;
}

void program(Request& request, std::vector<std::string> words) {
  request.pid.reset();
  request.program = std::move(words);
}

struct Golden {
  const char* about;
  Request request;
  Machine machine;
  std::string filter = {};
  bool copy_kernel = false;
  std::string event;
  std::string middle = {}; // between the event and the buffers
  std::string buffers = "4096,16384";
  std::string target = "-p|42";
};

std::vector<Golden> golden_commands() {
  const Machine root = root_machine();
  const Machine user = user_machine();
  Machine no_cycles = root;
  no_cycles.intel_pt->cycle_packets = false;
  Machine bare = root;
  bare.intel_pt = IntelPtCapabilities{};
  Machine odd = root;
  odd.intel_pt->mtc_periods = 0x240; // 6, 9
  odd.intel_pt->psb_periods = 0x08;  // 3
  Machine stand_in = root;
  stand_in.intel_pt.reset();
  Machine roomy_user = user;
  roomy_user.memlock = 8 * 1024 * 1024; // systemd's default
  const std::string fine = "intel_pt/cyc,mtc_period=3,noretcomp=1/u";
  return {
      {.about = "1 a process",
       .request = request_of([](Request&) {}),
       .machine = root,
       .event = fine},
      {.about = "2 a process, of no function in particular",
       .request = request_of([](Request& r) { r.function.clear(); }),
       .machine = root,
       .event = "intel_pt/cyc,mtc_period=3,noretcomp=0/u"},
      {.about = "3 a function by its address",
       .request = request_of([](Request& r) {
         r.function.clear();
         r.address = 0x1000;
       }),
       .machine = root,
       .event = fine},
      {.about = "4 a thread: one buffer follows it",
       .request = request_of([](Request& r) {
         r.pid.reset();
         r.tid = 43;
       }),
       .machine = root,
       .event = fine,
       .middle = "--per-thread|",
       .target = "-t|43"},
      {.about = "5 a CPU",
       .request = request_of([](Request& r) {
         r.pid.reset();
         r.cpu = 1;
       }),
       .machine = root,
       .event = fine,
       .target = "-C|1"},
      {.about = "6 the whole system",
       .request = request_of([](Request& r) {
         r.pid.reset();
         r.all_cpus = true;
       }),
       .machine = root,
       .event = fine,
       .target = "-a"},
      {.about = "7 a program, its words as they are",
       .request =
           request_of([](Request& r) { program(r, {"./a program", "-o", "$HOME; rm", "--"}); }),
       .machine = root,
       .event = fine,
       .target = "--|./a program|-o|$HOME; rm|--"},
      {.about = "8 with an address filter",
       .request = request_of([](Request& r) { r.filter = true; }),
       .machine = root,
       .filter = "filter 0x1000/0x20@/bin/x",
       .event = fine,
       .middle = "--filter|filter 0x1000/0x20@/bin/x|"},
      {.about = "9 a snapshot at the end",
       .request = request_of([](Request& r) { r.snapshot = true; }),
       .machine = root,
       .event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u",
       .middle = "--snapshot=e|"},
      {.about = "10 a slow call to be caught: the snapshot is asked for",
       .request = request_of([](Request& r) {
         r.snapshot = true;
         r.slower_than_ns = 1'000'000;
       }),
       .machine = root,
       .event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u",
       .middle = "--snapshot|"},
      {.about = "11 the kernel too",
       .request = request_of([](Request& r) { r.kernel = true; }),
       .machine = root,
       .event = "intel_pt/cyc,mtc_period=3,noretcomp=1/"},
      {.about = "12 the kernel and a copy of its code",
       .request = request_of([](Request& r) { r.kernel = true; }),
       .machine = root,
       .copy_kernel = true,
       .event = "intel_pt/cyc,mtc_period=3,noretcomp=1/",
       .middle = "--kcore|"},
      {.about = "13 a tenth of a second: synchronisation at every 2 KiB",
       .request = request_of([](Request& r) { r.duration_s = 0.1; }),
       .machine = root,
       .event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u"},
      {.about = "14 half a minute: less data",
       .request = request_of([](Request& r) { r.duration_s = 30; }),
       .machine = root,
       .event = "intel_pt/cyc,mtc_period=6,psb_period=4,noretcomp=0/u"},
      {.about = "15 ten minutes: no cycle packets",
       .request = request_of([](Request& r) { r.duration_s = 600; }),
       .machine = root,
       .event = "intel_pt/mtc_period=3,psb_period=5,noretcomp=0/u"},
      {.about = "16 a user with the kernel's default limit: 64 + 1 + 64 pages of 129",
       .request = request_of([](Request&) {}),
       .machine = user,
       .event = fine,
       .buffers = "64,64"},
      {.about = "17 a user, one thread: the limit of both CPUs for one buffer",
       // 1032 KiB are 258 pages: 129 for data, and after 128 and one the rest is 129 again.
       .request = request_of([](Request& r) {
         r.pid.reset();
         r.tid = 43;
       }),
       .machine = user,
       .event = fine,
       .middle = "--per-thread|",
       .buffers = "128,128",
       .target = "-t|43"},
      {.about = "18 a user with 8 MiB of locked memory: 4612 KiB a CPU",
       .request = request_of([](Request&) {}),
       .machine = roomy_user,
       .event = fine,
       .buffers = "256,512"},
      {.about = "19 a processor without cycle packets, and periods that it does not have",
       .request = request_of([](Request& r) { r.duration_s = 0.1; }),
       .machine = odd,
       .event = "intel_pt/cyc,mtc_period=6,psb_period=3,noretcomp=1/u"},
      {.about = "20 a processor without any timing packets",
       .request = request_of([](Request& r) { r.function.clear(); }),
       .machine = bare,
       .event = "intel_pt/noretcomp=0/u"},
      {.about = "21 crystal packets alone",
       .request = request_of([](Request&) {}),
       .machine = no_cycles,
       .event = "intel_pt/mtc_period=3,noretcomp=1/u"},
      {.about = "22 a replacement for perf has every packet",
       .request = request_of([](Request& r) { r.duration_s = 0; }),
       .machine = stand_in,
       .event = fine},
  };
}

const PerfSetting setting{
    .perf = "/usr/bin/perf", .data_file = "/out dir/perf.data", .control = "fd:5,7"};

TEST(PerfCommand, MatchesTheGoldenCommands) {
  for (const Golden& golden : golden_commands()) {
    PerfSetting with_kernel = setting;
    with_kernel.copy_kernel = golden.copy_kernel;
    const std::string expected =
        fmt::format("/usr/bin/perf|record|-e|{}|{}-m|{}|--switch-events|-N|--control|fd:5,7|-o|"
                    "/out dir/perf.data|{}",
                    golden.event, golden.middle, golden.buffers, golden.target);
    EXPECT_EQ(fmt::format("{}", fmt::join(intel_pt_command(golden.request, golden.machine,
                                                           with_kernel, golden.filter),
                                          "|")),
              expected)
        << golden.about;
  }
}

TEST(PerfCommand, RecordsTheTracepointsOfWaitsWithTheTopOfTheStack) {
  PerfSetting with_waits = setting;
  with_waits.waits = true;
  const auto command =
      intel_pt_command(request_of([](Request&) {}), root_machine(), with_waits, "filter f");
  const auto filter = std::ranges::find(command, "--filter");
  ASSERT_NE(filter, command.end());
  // perf applies a filter to the event before it.
  EXPECT_EQ(std::vector<std::string>(filter, filter + 6),
            (std::vector<std::string>{"--filter", "filter f", "-e",
                                      "sched:sched_switch/call-graph=dwarf,stack-size=1024/", "-e",
                                      "sched:sched_waking/call-graph=dwarf,stack-size=1024/"}));
}

TEST(PerfCommand, StaysWithinTheLockedMemoryOfAUser) {
  for (const std::uint64_t mlock_kb : {0, 64, 516, 1000, 8192}) {
    for (const std::uint64_t memlock : {std::uint64_t{0}, std::uint64_t{8} << 20}) {
      for (const bool thread : {false, true}) {
        Machine machine = user_machine();
        machine.cpus = 8;
        machine.mlock_kb = mlock_kb;
        machine.memlock = memlock;
        Request request;
        (thread ? request.tid : request.pid) = 42;
        const BufferSizes sizes = choose_buffers(request, machine, true);
        EXPECT_EQ(sizes.count, thread ? 1U : 8U);
        const std::uint64_t locked = sizes.count * (sizes.data_pages + 1 + sizes.aux_pages) * 4;
        const std::uint64_t smallest = sizes.count * 3 * 4;
        EXPECT_LE(locked, std::max(mlock_kb * 8 + memlock / 1024, smallest)) << mlock_kb;
      }
    }
  }
}

TEST(TraceSettings, GiveAReason) {
  Request request;
  request.duration_s = 600;
  EXPECT_EQ(choose_settings(request, root_machine()).reason.code, "no_cycle_packets_long");
  Machine old = root_machine();
  old.intel_pt->cycle_packets = false;
  request.duration_s = 2;
  EXPECT_EQ(choose_settings(request, old).reason.code, "no_cycle_packets");
}

} // namespace
} // namespace ptlens::record::test
