// Sums are added field by field.
#include "cache/writing/tally.hpp"

#include <algorithm>

namespace ptlens::cache {

void Tally::add(const Tally& other) {
  calls += other.calls;
  least = std::min(least, other.least);
  most = std::max(most, other.most);
  latency += other.latency;
  squares += other.squares;
  squares_high += other.squares_high + (squares < other.squares ? 1 : 0);
  blocked += other.blocked;
  preempted += other.preempted;
  on_cpu += other.on_cpu;
  self += other.self;
  outside += other.outside;
  removed += other.removed;
  uncertainty += other.uncertainty;
  covered_on_cpu += other.covered_on_cpu;
  off_cpu_calls += other.off_cpu_calls;
  switches += other.switches;
}

TalliedRanks::TalliedRanks(Ranks& of_latencies, Ranks& of_uncertainties) {
  std::ranges::copy(of_latencies.values(), latencies.begin());
  std::ranges::copy(of_uncertainties.values(), uncertainties.begin());
}

} // namespace ptlens::cache
