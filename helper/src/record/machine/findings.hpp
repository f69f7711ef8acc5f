// The doctor's findings, one function each: from facts that were read before.
#pragma once

#include "record/machine/doctor.hpp"
#include "record/machine/machine.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptlens::record {

struct Facts {
  Words say; // Checkup::say
  Machine machine;
  std::string root;    // Checkup::root
  std::string perf;    // path, empty: not found
  std::string asked;   // perf as it was asked for
  std::string cpuinfo; // text of /proc/cpuinfo
};

// Hardware.
[[nodiscard]] Finding find_intel_pt(const Facts& facts);
[[nodiscard]] std::optional<Finding> find_timing_packets(const Facts& facts);  // with Intel PT
[[nodiscard]] std::optional<Finding> find_address_filters(const Facts& facts); // with Intel PT
[[nodiscard]] Finding find_virtual_machine(const Facts& facts);
[[nodiscard]] Finding find_container(const Facts& facts);

// Rights.
[[nodiscard]] Finding find_rights(const Facts& facts);
[[nodiscard]] Finding find_perf_rights(const Facts& facts);
[[nodiscard]] Finding find_paranoid(const Facts& facts);
[[nodiscard]] Finding find_kernel_addresses(const Facts& facts);
[[nodiscard]] Finding find_attaching(const Facts& facts);
[[nodiscard]] Finding find_buffers(const Facts& facts);
[[nodiscard]] std::optional<Finding> find_lockdown(const Facts& facts); // where it is on

// Software and room.
[[nodiscard]] Finding find_perf(const Facts& facts);
[[nodiscard]] std::optional<Finding> find_perf_features(const Facts& facts); // with perf
[[nodiscard]] Finding find_tracefs(const Facts& facts);
[[nodiscard]] Finding find_uprobes(const Facts& facts);
[[nodiscard]] Finding find_disk_room(const Words& say, const std::string& folder);
[[nodiscard]] Finding find_debug_information(const Words& say, const std::string& binary);

// The commands that set a number of /proc/sys until the next start and for good.
void advise_setting(Finding& finding, std::string_view name, long long value);

// What `perf --version` prints as numbers: {6, 1} of "perf version 6.1.187". Nothing where it is
// not perf's.
struct PerfVersion {
  int major = 0;
  int minor = 0;
};
[[nodiscard]] std::optional<PerfVersion> parse_perf_version(std::string_view text);

} // namespace ptlens::record
