// A function that spins for a known time, called at a fixed distance: what a tool says of its
// latency can be compared with the time that it spun. The clock is read inside the function, so
// that probes at its entry and exit do not enter the truth.
//
//   --ns N      how long a call spins (2000)
//   --calls N   how often it is called (1000); 0: until the end
//   --bare 1    calls spin_bare, not spin
//   --every N   ns from one call's start to the next (0: no pause)
#include "program.hpp"

namespace {

std::uint64_t begin;
std::uint64_t end;

} // namespace

// Begins with a push, as most functions do: the kernel emulates the instruction under a probe.
extern "C" OWN_FUNCTION void spin(std::uint64_t wanted) {
#if defined(__x86_64__)
  asm volatile("" ::: "rbx");
#endif
  begin = truth::ticks();
  do {
    end = truth::ticks();
  } while (end - begin < wanted);
}

// Begins with an instruction that the kernel executes in a copy, which takes several times as long.
extern "C" OWN_FUNCTION void spin_bare(std::uint64_t wanted) {
#if defined(__x86_64__)
  asm volatile("xorl %%eax, %%eax" ::: "eax");
#endif
  begin = truth::ticks();
  do {
    end = truth::ticks();
  } while (end - begin < wanted);
}

int main(int count, char** words) {
  double ns = 2'000;
  double calls = 1'000;
  double every = 0;
  double bare = 0;
  truth::Program program(
      count, words, {{"--ns", &ns}, {"--calls", &calls}, {"--every", &every}, {"--bare", &bare}});
  const std::uint64_t wanted = program.ticks_of(ns);
  const std::uint64_t distance = program.ticks_of(every);
  const auto most = static_cast<std::uint64_t>(calls);
  truth::Latencies spins;
  truth::Timeline timeline(program.ticks_per_ns());
  program.start();
  while (most == 0 || spins.calls() < most) {
    (bare > 0 ? spin_bare : spin)(wanted);
    spins.add(end - begin);
    const std::uint64_t next = begin + distance;
    std::uint64_t now = truth::ticks();
    timeline.add(now, spins.calls());
    while (now < next) {
      now = truth::ticks();
    }
    if (program.ends(now)) {
      break;
    }
  }
  return program.finish({{bare > 0 ? "spin_bare" : "spin", &spins}}, {&timeline});
}
