// What all decoders of one recording share: its processes' code, who ran when, and how its trace
// was configured.
#pragma once

#include "flow/code/code_graph.hpp"
#include "flow/code/code_image.hpp"
#include "flow/context_switches.hpp"
#include "flow/packets/trace_clock.hpp"
#include "perfdata/recording.hpp"
#include "symbols/address_space.hpp"

#include <intel-pt.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptlens::flow {

class DecodeContext {
public:
  // The references must outlive the context. With a pid, the trace of that process alone is ours.
  DecodeContext(const perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                const ContextSwitches& context_switches, Detail detail,
                std::optional<std::int32_t> pid = std::nullopt, std::uint32_t numbering = 0);

  // Several contexts of one recording have different ones.
  [[nodiscard]] std::uint32_t numbering() const { return numbering_; }
  [[nodiscard]] Detail detail() const { return detail_; }

  // libipt's configuration without a buffer: processor errata, clock ratios, block ends at calls
  // and jumps.
  [[nodiscard]] const pt_config& config() const { return config_; }
  [[nodiscard]] const ClockConfig& clock() const { return clock_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  [[nodiscard]] const perfdata::TimeConversion& time_conversion() const {
    return recording_->time_conversion();
  }

  // Who a buffer's trace that begins at that time belongs to. A per-thread buffer has its owner; in
  // a per-CPU buffer the switch records decide, and tid 0 says that they show the CPU idle; without
  // them, the one process that was recorded.
  [[nodiscard]] Running owner(const perfdata::AuxBuffer& buffer, std::uint64_t time_ns) const;

  // False for threads of processes whose code was not recorded: their trace is not ours.
  [[nodiscard]] bool is_recorded(std::int32_t pid) const { return recorded_.contains(pid); }
  // Others are decoded as well, since the processor's return stack goes on from one to the next.
  [[nodiscard]] bool is_asked_for(std::int32_t pid) const { return !pid_ || *pid_ == pid; }

  // That part of the trace is decoded.
  void forget(std::span<const std::byte> trace) const { recording_->forget(trace); }

  // The code of a process at a time. Made once for each version of its address space.
  [[nodiscard]] CodeGraph& graph(std::int32_t pid, std::uint64_t time_ns);

private:
  const perfdata::Recording* recording_;
  const symbols::AddressSpaces* spaces_;
  const ContextSwitches* context_switches_;
  Detail detail_;
  std::uint32_t numbering_;
  pt_config config_{};
  ClockConfig clock_;
  std::vector<std::string> warnings_;
  std::map<std::int32_t, std::int32_t> pid_of_tid_;
  std::map<std::int32_t, bool> recorded_;
  std::optional<std::int32_t> pid_;
  Running only_;
  struct Code {
    Code(const symbols::AddressSpaceVersion& version, Detail detail)
        : image(version), graph(image, detail) {}
    CodeImage image;
    CodeGraph graph;
  };
  std::unordered_map<std::uint64_t, std::unique_ptr<Code>> code_; // by serial of the version
};

} // namespace ptlens::flow
