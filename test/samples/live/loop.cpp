// One thread that calls a function of some 0.15 µs at a fixed rate, or as fast as it goes. It does
// not catch up when it is late.
//
//   --rate N    calls a second (100000); 0: as fast as it goes
//   --calls N   how often it is called; 0: until the end
#include "program.hpp"

// Mixes the bits of a key, in a chain of multiplications that a processor cannot shorten.
extern "C" OWN_FUNCTION std::uint64_t hash_key(std::uint64_t key) {
  for (int turn = 0; turn < 128; ++turn) {
    key = (key ^ (key >> 29)) * 0x9e3779b97f4a7c15ULL;
  }
  return key;
}

int main(int count, char** words) {
  double rate = 100'000;
  double calls = 0;
  truth::Program program(count, words, {{"--rate", &rate}, {"--calls", &calls}});
  const std::uint64_t distance = rate > 0 ? program.ticks_of(1e9 / rate) : 0;
  const auto most = static_cast<std::uint64_t>(calls);
  truth::Latencies hashes;
  truth::Timeline timeline(program.ticks_per_ns());
  std::uint64_t key = 1;
  program.start();
  std::uint64_t next = truth::ticks();
  for (std::uint64_t number = 1; most == 0 || number <= most; ++number) {
    const std::uint64_t begin = truth::ticks();
    key = hash_key(key);
    std::uint64_t now = truth::ticks();
    hashes.add(now - begin);
    timeline.add(now, number);
    next = std::max(next + distance, now);
    while (now < next) {
      now = truth::ticks();
    }
    if (program.ends(now)) {
      break;
    }
  }
  std::fprintf(stderr, key == 0 ? "loop: an unlikely key\n" : "");
  return program.finish({{"hash_key", &hashes}}, {&timeline});
}
