// The capabilities of this machine and the permissions of the helper. The perf command line and the
// doctor are built from them.
#pragma once

#include "record/processes/rights.hpp"

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
  std::uint32_t address_filters = 0; // num_address_ranges, limited by the kernel
};

struct Machine {
  std::uint32_t cpus = 1;         // online
  std::uint64_t page_size = 4096; // bytes
  std::uint64_t memory = 0;       // bytes of RAM
  std::uint64_t mlock_kb = 516;   // perf_event_mlock_kb, KiB per CPU for users without ipc_lock
  std::uint64_t memlock = 0;      // RLIMIT_MEMLOCK: bytes that may be locked in addition
  std::int64_t paranoid = 2;      // perf_event_paranoid
  std::optional<IntelPtCapabilities> intel_pt; // not set: no such device
  std::string tracefs;                         // mount point; empty: not mounted
  bool kernel_readable = false;                // /proc/kcore: the kernel's code can be copied
  Rights rights;                               // of the helper and of the perf binary together
};

// Reads the facts. `perf` is the path of the perf binary, whose file capabilities count, or empty.
// `root` is a prefix of every path that is read: empty, or a folder with another machine's files.
[[nodiscard]] Machine read_machine(const std::string& perf, const std::string& root = "");

// Returns the name itself when it contains a slash, or else the first program of that name on PATH.
// Returns an empty string when there is no executable program.
[[nodiscard]] std::string find_program(const std::string& name);

} // namespace ptlens::record
