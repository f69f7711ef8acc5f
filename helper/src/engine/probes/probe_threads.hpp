// Takes the samples of probes, and turns those of each thread or goroutine into calls. The manifest
// gives the function of a sample, and the return address in its payload gives the call site.
#pragma once

#include "cache/writing/writer.hpp"
#include "engine/probes/goroutine_rows.hpp"
#include "engine/probes/probe_costs.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "measure/measurement.hpp"
#include "perfdata/contents/records.hpp"
#include "record/manifest.hpp"
#include "record/probe_table.hpp"
#include "stacks/threads/probe_calls.hpp"
#include "stacks/transfer/symbolizer.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptlens::engine {

class ProbeThreads {
public:
  ProbeThreads(const LoadedRecording& loaded, measure::Measurement& measurement,
               cache::Writer& writer);

  // Returns false when the sample belongs to none of our probes.
  bool add(const perfdata::Sample& sample);
  // Takes the sample of a switch: it has the registers of a thread that loses its CPU.
  void add_switch(const perfdata::Sample& sample);
  // Closes the open calls, and completes the measurement. The recording lasts from `first_ns` to
  // `last_ns`.
  void finish(std::uint64_t first_ns, std::uint64_t last_ns);

  // Returns the times in which nothing was measured.
  [[nodiscard]] std::vector<stacks::Gap> gaps() const;
  [[nodiscard]] bool any_goroutines() const { return any_goroutines_; }
  [[nodiscard]] std::uint64_t hits_left_out() const { return goroutines_.left_out(); }
  // Returns the number of hits in code of Go that belong to no goroutine.
  [[nodiscard]] std::uint64_t hits_of_no_goroutine() const { return hits_of_no_goroutine_; }
  [[nodiscard]] const ProbeCosts& costs() const { return costs_; }
  // Returns how many times longer the hits made the threads run.
  [[nodiscard]] double slowdown() const;

private:
  // Ends the open calls of intervals that ended before this time: their ends were not recorded.
  void go_on_to(std::uint64_t time_ns);
  [[nodiscard]] const std::vector<record::Interval>& intervals() const;
  std::size_t thread(const perfdata::Sample& sample);
  std::size_t add_row(std::int32_t pid, std::int32_t tid, std::uint64_t time_ns,
                      bool of_goroutines);
  // Takes a hit in code of Go. Returns true where it belongs to the thread: the code runs on no
  // goroutine of the program.
  bool follow_goroutine(const perfdata::Sample& sample, const record::Probe& probe,
                        const stacks::ProbeHit& hit);
  [[nodiscard]] bool may_be_in_hit(const perfdata::Sample& sample, std::uint64_t place) const;
  // Returns the target function of a jump out of another function; none where it is unknown.
  stacks::FunctionId tail_target(const symbols::AddressSpaceVersion& space,
                                 const symbols::MappedCode& mapped, const record::Probe& probe,
                                 std::uint64_t address);
  stacks::SiteId call_site(const symbols::AddressSpaceVersion& space, std::uint64_t return_address);
  stacks::FunctionId caller(const symbols::AddressSpaceVersion& space,
                            std::uint64_t return_address);

  const LoadedRecording* loaded_;
  measure::Measurement* measurement_;
  cache::Writer* writer_;
  record::ProbeTable table_;
  ProbeCosts costs_;
  stacks::Symbolizer symbolizer_;
  std::deque<stacks::ProbeCalls> threads_;
  std::set<std::uint64_t> returned_events_;                   // of return probes
  std::set<std::pair<std::string, std::uint64_t>> returning_; // functions with return probes
  std::vector<bool> of_goroutines_;                           // by row
  std::unordered_map<std::int32_t, std::size_t> index_;       // rows of threads
  const perfdata::ContextSwitches no_switches_{{}};
  GoroutineRows goroutines_;
  bool any_goroutines_ = false;
  std::uint64_t hits_of_no_goroutine_ = 0;
  std::set<std::uint64_t> hit_places_; // addresses in the process
  std::map<std::pair<std::uint64_t, std::uint64_t>, stacks::SiteId> site_of_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, stacks::FunctionId> tail_of_;
  std::size_t interval_ = 0;         // of the hits so far
  std::uint64_t callees_end_ns_ = 0; // when their probes were removed; 0: not, or it is past
  std::map<std::pair<std::uint64_t, std::uint64_t>, stacks::FunctionId> caller_of_;
};

} // namespace ptlens::engine
