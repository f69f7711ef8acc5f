// What the hits of probes cost, from the manifest of a recording.
#pragma once

#include "record/probe_table.hpp"
#include "stacks/threads/open_calls.hpp"

#include <cstdint>
#include <span>

namespace ptlens::engine {

class ProbeCosts {
public:
  explicit ProbeCosts(std::span<const record::Probe> probes);

  // Returns false where no cost was measured. Then a hit is assumed to take from 0 to 20 us, which
  // is as long as on the slowest machine that we know.
  [[nodiscard]] bool measured() const { return measured_; }

  // Returns the time that a hit of the probe takes from its thread.
  [[nodiscard]] stacks::ProbeTime of_hit(const record::Probe& probe) const;
  // Returns what this hit, of an entry, and the hit of the exit add to the latency of the call.
  [[nodiscard]] stacks::ProbeTime excess(const record::Probe& entry) const;
  // Returns what is added to that where the exit's hit came long after the thread's previous one.
  [[nodiscard]] stacks::ProbeTime late(const record::Probe& entry) const;
  // Returns the largest uncertainty of a call of a requested function that contains no other hit.
  [[nodiscard]] std::uint64_t resolution_ns() const { return resolution_ns_; }

private:
  bool measured_ = false;
  std::uint64_t resolution_ns_ = 1;
};

} // namespace ptlens::engine
