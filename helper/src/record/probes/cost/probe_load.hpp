// How much of its time a program loses to probes.
#pragma once

#include "record/probe_table.hpp"
#include "record/probes/cost/probe_cost.hpp"
#include "record/probes/cost/run_time.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

namespace ptlens::record {

// The cost of each hit, by event and instruction.
class HitCosts {
public:
  HitCosts() = default;
  // `frequent`: the same probes, with HitCost::frequent_ns as their hit_ns.
  HitCosts(std::span<const Probe> probes, std::span<const Probe> frequent);

  // Returns the time that the hit took from its thread. `ip`: address in the process. Only its
  // offset in the page counts, which is the same in the file and in every process.
  [[nodiscard]] double take(std::uint64_t event_id, std::uint64_t ip, std::int32_t tid,
                            std::uint64_t time_ns);
  // Returns how often the probe was hit.
  [[nodiscard]] std::uint64_t hits_of(const Probe& probe) const;

private:
  struct Hits {
    HitCost cost;
    std::uint64_t count = 0;
  };
  std::unordered_map<std::uint64_t, Hits> hits_;
  std::unordered_map<std::int32_t, std::uint64_t> last_ns_; // hit of each thread
};

// The time that hits took, by thread.
class ProbeLoad {
public:
  void add(std::int32_t tid, double ns);
  void clear();

  // Adds `times` the hits of another load.
  void add(const ProbeLoad& more, double times = 1);

  // Returns the share that the probes took of the time in which the program could run (0 to 1): of
  // the thread that lost most, or of the CPUs that the program used where that is more. The program
  // is slowed by the most loaded thread, and threads that share CPUs are slowed by each other's
  // hits.
  [[nodiscard]] double share(const RunTime& time) const;
  // Returns the time that the thread lost which lost most, ns.
  [[nodiscard]] double most() const;

private:
  std::unordered_map<std::int32_t, double> by_thread_;
  double total_ = 0;
};

// What a hit costs is not known well enough to distinguish 10 times from 100.
inline constexpr double most_slowdown = 10;
// Returns how many times slower a program runs that loses this share of its time, at most
// most_slowdown.
[[nodiscard]] double slowdown(double share);
// Returns "1.20 times slower", or "at least 10 times slower".
[[nodiscard]] std::string times_slower(double slowdown);

} // namespace ptlens::record
