// The probes of a recording, and the search for the probe of a sample.
//
// Probes share events: all entries are one event, all returns another and all jumps out of a
// function a third, because the kernel needs about 80 ms to close each event and a file descriptor
// per event, thread and CPU. An event id alone therefore does not identify the function. The
// sample's instruction pointer does, after the mappings of the recording have turned it into an ELF
// address.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

struct Probe {
  enum class Kind {
    entry,    // at the first instruction of a function, or at one that always follows it
    exit,     // at an instruction by which control leaves it: ret, or a jump out (a tail call)
    returned, // a return probe: hit after the return, wherever and however control left
    // At a call of Go's runtime.morestack: the function begins again, in the same call.
    restart,
    // At the entry of runtime.Goexit: it ends its goroutine, whose functions do not return.
    goroutine_end,
  };
  Kind kind = Kind::entry;
  std::uint64_t event_id = 0; // tracefs id: perf_event_attr.config and common_type of its samples;
                              // the same for all probes of one kind
  std::string binary;         // path in the target's file system
  std::uint64_t function = 0; // ELF address of the function's entry
  std::uint64_t address = 0;  // ELF address of the probed instruction
  bool tail_call = false;     // exit by a jump out of the function
  bool target = false;        // in the requested function, not in one that it calls
  bool goroutine = false;     // in code of Go: see record/goroutine_sample.hpp
  // The function that a direct jump out leads to, through the stub of another library if there is
  // one; an empty binary: unknown.
  std::string to_binary = {};
  std::uint64_t to_function = 0;
  std::uint64_t end_ns = 0;  // when it was removed during the recording; 0: it was not. Later hits
                             // took time, but not all of them were recorded
  double latency_ns = 0;     // entry: the excess that the probes add to the measured latency of the
                             // function; 0: not measured
  double hit_ns = 0;         // time that a hit takes from the thread; 0: not measured
  double uncertainty_ns = 0; // of latency_ns and hit_ns
  double late_ns = 0; // entry: added to latency_ns, ± late_ns, where the exit's hit came long
                      // after the thread's previous one
};

// Returns the event of the probes of that kind.
[[nodiscard]] std::optional<std::uint64_t> event_of(std::span<const Probe> probes,
                                                    Probe::Kind kind);

// Finds the probe that a sample comes from.
class ProbeTable {
public:
  explicit ProbeTable(std::vector<Probe> probes);

  // `binary` is the path of the mapping that contains the sample's instruction pointer, and
  // `address` is that pointer as an ELF address. Returns nullptr when no probe is there.
  [[nodiscard]] const Probe* find(std::uint64_t event_id, std::string_view binary,
                                  std::uint64_t address) const;

  [[nodiscard]] std::span<const Probe> probes() const { return probes_; }

private:
  std::vector<Probe> probes_; // by event, address, binary
};

} // namespace ptlens::record
