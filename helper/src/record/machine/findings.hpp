// The findings of the doctor, one function each. They use facts that were read before.
#pragma once

#include "record/machine/finding.hpp"
#include "record/machine/machine.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptlens::record {

struct Facts {
  Machine machine;
  std::string root;           // Checkup::root
  std::string perf;           // path; empty: not found
  std::string requested_perf; // Checkup::perf
  std::string cpuinfo;        // text of /proc/cpuinfo
};

// Hardware.
[[nodiscard]] Finding find_intel_pt(const Facts& facts);
[[nodiscard]] std::optional<Finding> find_timing_packets(const Facts& facts);  // with Intel PT
[[nodiscard]] std::optional<Finding> find_address_filters(const Facts& facts); // with Intel PT
[[nodiscard]] Finding find_virtual_machine(const Facts& facts);
[[nodiscard]] Finding find_container(const Facts& facts);

// Permissions.
[[nodiscard]] Finding find_rights(const Facts& facts);
[[nodiscard]] Finding find_perf_rights(const Facts& facts);
[[nodiscard]] Finding find_paranoid(const Facts& facts);
[[nodiscard]] Finding find_kernel_addresses(const Facts& facts);
[[nodiscard]] Finding find_attaching(const Facts& facts);
[[nodiscard]] Finding find_buffers(const Facts& facts);
[[nodiscard]] std::optional<Finding> find_lockdown(const Facts& facts); // where it is on

// Software and disk space.
[[nodiscard]] Finding find_perf(const Facts& facts);
[[nodiscard]] std::optional<Finding> find_perf_features(const Facts& facts); // with perf
[[nodiscard]] Finding find_tracefs(const Facts& facts);
[[nodiscard]] Finding find_uprobes(const Facts& facts);
[[nodiscard]] Finding find_wait_tracepoints(const Facts& facts);
[[nodiscard]] Finding find_uftrace();
[[nodiscard]] Finding find_disk_space(const std::string& folder);
[[nodiscard]] Finding find_debug_information(const std::string& binary);

// Adds the commands that set a number of /proc/sys until the next reboot and permanently.
void advise_setting(Finding& finding, std::string_view name, long long value);

// The version that `perf --version` prints: {6, 1} for "perf version 6.1.187".
struct PerfVersion {
  int major = 0;
  int minor = 0;
};

// Returns nothing when the text is not the output of perf.
[[nodiscard]] std::optional<PerfVersion> parse_perf_version(std::string_view text);

} // namespace ptlens::record
