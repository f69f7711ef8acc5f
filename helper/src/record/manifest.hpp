// DIR/manifest.json: what `ptlens record` asked for and did, beside the perf.data it made. Readers
// need it for uprobe recordings: it says which function each probe belongs to.
//
// Probes share events: all entries are one event, all returns another, all jumps out a third,
// because the kernel needs some 80 ms to close each event and a file descriptor per event, thread
// and CPU. So an event id alone does not tell the function: the sample's instruction pointer does,
// brought to an ELF address by the mappings of the recording. ProbeTable answers that.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

struct Probe {
  enum class Kind {
    entry, // at the first instruction of a function, or one that always follows it
    exit,  // at an instruction by which control leaves it (ret, or a jump out: a tail call)
    // At the entry's instruction once more, or at the next one: the call begins with this hit, and
    // how long it comes after the entry's tells what a hit costs then. Follows every entry's hit of
    // a function that has such a probe.
    after_entry,
    // At an exit's instruction once more, for the same: what a hit costs differs between the two
    // ways into the kernel. Follows every hit of an exit that has such a probe.
    after_exit,
  };
  Kind kind = Kind::entry;
  std::uint64_t event_id = 0; // tracefs id: perf_event_attr.config and common_type of its samples;
                              // the same for all probes of one kind
  std::string binary;         // path in the target's file system
  std::uint64_t function = 0; // ELF address of the function's entry
  std::uint64_t address = 0;  // ELF address of the probed instruction
  bool tail_call = false;     // exit by a jump out of the function
  bool target = false;        // belongs to the function asked about, not to one it calls
  double latency_ns = 0; // entry: what the latency of a function that begins so shows beyond the
                         // truth; 0: not measured
  double hit_ns = 0;     // time that a hit takes from the thread, of an entry or exit with the one
                         // after it; 0: not measured
  double uncertainty_ns = 0; // either may be off by this much at times that CostInTime is not of
};

// A second probe of an entry or an exit, which tells what a hit costs.
[[nodiscard]] constexpr bool is_second(Probe::Kind kind) {
  return kind == Probe::Kind::after_entry || kind == Probe::Kind::after_exit;
}

// The event of the probes of that kind.
[[nodiscard]] std::optional<std::uint64_t> event_of(std::span<const Probe> probes,
                                                    Probe::Kind kind);

// How many times their cost above hits take, by what was measured in the calls of a thread. Columns
// of one length.
struct CostInTime {
  std::int32_t tid = -1;
  std::vector<std::uint64_t>
      from_ns;                     // perf's clock, ascending: until the next, the last to the end
  std::vector<double> scale;       // of latency_ns of the function asked about
  std::vector<double> hit_scale;   // of hit_ns
  std::vector<double> uncertainty; // share by which a product may be off
};

// The raw payload of each probe's samples, after the 8 common bytes: u64 ip, u64 sp (stack pointer
// at the probe), and for entry probes u64 return address.
struct Manifest {
  std::string backend; // "intel_pt" or "uprobe"
  std::string ptlens_version;
  std::string function; // as asked for, empty: none
  std::string binary;
  std::int32_t pid = -1;
  std::vector<std::string> command; // of a started program
  double duration_s = 0;            // asked for
  std::vector<std::string> perf_command;
  std::vector<Probe> probes;            // uprobe only
  std::vector<CostInTime> cost_in_time; // uprobe only, each thread once
  std::vector<std::string> notes;       // what the backend costs and cannot see, one line each
};

// Finds the probe that a sample comes from.
class ProbeTable {
public:
  explicit ProbeTable(std::vector<Probe> probes);

  // `binary` is the path of the mapping that holds the sample's instruction pointer, `address` that
  // pointer as an ELF address. nullptr where no probe of ours is there.
  [[nodiscard]] const Probe* find(std::uint64_t event_id, std::string_view binary,
                                  std::uint64_t address) const;

  [[nodiscard]] std::span<const Probe> probes() const { return probes_; }

private:
  std::vector<Probe> probes_; // by event, address, binary
};

inline constexpr const char* manifest_name = "manifest.json";

Result<void> write_manifest(const std::string& directory, const Manifest& manifest);
Result<Manifest> read_manifest(const std::string& directory);

} // namespace ptlens::record
