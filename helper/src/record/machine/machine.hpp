// What this machine and our rights allow, as facts: the perf command line and the doctor are built
// from them. Reads only.
#pragma once

#include "record/machine/rights.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::record {

// /sys/bus/event_source/devices/intel_pt/caps. Names as in the Intel SDM, leaf 0x14 of CPUID.
struct IntelPtCapabilities {
  bool cycle_packets = false;        // psb_cyc: CYC
  bool mini_time_counter = false;    // mtc: MTC
  std::uint32_t mtc_periods = 0;     // bit n: mtc_period=n is supported
  std::uint32_t psb_periods = 0;     // bit n: psb_period=n is supported
  bool ip_filtering = false;         // address filters
  std::uint32_t address_filters = 0; // num_address_ranges, at most what the kernel offers
};

struct Machine {
  std::uint32_t cpus = 1;         // online
  std::uint64_t page_size = 4096; // bytes
  std::uint64_t memory = 0;       // bytes of RAM
  std::uint64_t mlock_kb = 516;   // perf_event_mlock_kb, KiB a CPU for users without ipc_lock
  std::uint64_t memlock = 0;      // RLIMIT_MEMLOCK: bytes that may be locked beyond that
  std::int64_t paranoid = 2;      // perf_event_paranoid
  std::optional<IntelPtCapabilities> intel_pt; // nothing: no such device
  std::string tracefs;                         // where it is mounted, empty: nowhere
  bool kernel_readable = false;                // /proc/kcore: the kernel's code can be copied
  Rights rights;                               // ours or, where larger, those of the perf binary
};

// `perf` is the path of the perf binary, whose file capabilities count; may be empty. `root` is put
// before every path that is read: empty, or a folder with the files of another machine.
[[nodiscard]] Machine read_machine(const std::string& perf, const std::string& root = "");

// The program that a name means: as it is when it holds a slash, else the first one on PATH. Empty
// when there is none that may be executed.
[[nodiscard]] std::string find_program(const std::string& name);

} // namespace ptlens::record
