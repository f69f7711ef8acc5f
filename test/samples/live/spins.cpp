// One function that spins for a known time, called at a fixed distance: what a tool says of its
// latency can be compared with the time that it spun. The clock is read inside the function, so
// that probes at its entry and exit do not enter the truth.
//
//   --ns N      how long a call spins (2000)
//   --calls N   how often it is called (1000); 0: until the end
//   --every N   ns from one call's start to the next (0: no pause)
#include "program.hpp"

namespace {

std::uint64_t begin;
std::uint64_t end;

} // namespace

extern "C" OWN_FUNCTION void spin(std::uint64_t wanted) {
  begin = truth::ticks();
  do {
    end = truth::ticks();
  } while (end - begin < wanted);
}

int main(int count, char** words) {
  double ns = 2'000;
  double calls = 1'000;
  double every = 0;
  truth::Program program(count, words, {{"--ns", &ns}, {"--calls", &calls}, {"--every", &every}});
  const std::uint64_t wanted = program.ticks_of(ns);
  const std::uint64_t distance = program.ticks_of(every);
  const auto most = static_cast<std::uint64_t>(calls);
  truth::Latencies spins;
  truth::Timeline timeline(program.ticks_per_ns());
  program.start();
  while (most == 0 || spins.calls() < most) {
    spin(wanted);
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
  return program.finish({{"spin", &spins}}, {&timeline});
}
