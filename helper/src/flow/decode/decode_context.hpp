// What all decoders of one recording share: the code of its processes, the context switches, and
// the configuration of its trace.
#pragma once

#include "flow/code/code_graph.hpp"
#include "flow/code/code_image.hpp"
#include "flow/packets/trace_clock.hpp"
#include "flow/walk/branch_consumer.hpp"
#include "perfdata/contents/context_switches.hpp"
#include "perfdata/recording.hpp"
#include "symbols/address_space.hpp"

#include <intel-pt.h>

#include <algorithm>
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
  // The references must outlive the context. With a pid, only the branches of that process are
  // emitted. `make_consumer` makes what takes the branches of each version of code; may be empty.
  DecodeContext(const perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                const perfdata::ContextSwitches& context_switches, Detail detail,
                std::optional<std::int32_t> pid = std::nullopt, std::uint32_t numbering = 0,
                MakeConsumer make_consumer = {});

  // Returns the numbering of the ids of branches. Each context of a recording has its own.
  [[nodiscard]] std::uint32_t numbering() const { return numbering_; }
  [[nodiscard]] Detail detail() const { return detail_; }

  // Returns libipt's configuration without a buffer: processor errata and clock ratios.
  [[nodiscard]] const pt_config& config() const { return config_; }
  [[nodiscard]] const ClockConfig& clock() const { return clock_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  [[nodiscard]] const perfdata::TimeConversion& time_conversion() const {
    return recording_->time_conversion();
  }

  // Returns the thread that the buffer's trace at that time belongs to. A per-thread buffer belongs
  // to its thread. In a per-CPU buffer the switch records decide; tid 0 means that they show the
  // CPU idle. Without switch records it is the process that was recorded, if that is only one.
  [[nodiscard]] perfdata::Running owner(const perfdata::AuxBuffer& buffer,
                                        std::uint64_t time_ns) const;

  // Returns the time in ns before which the thread that owner() and the code that code() gave for
  // these times stay, and the thread stays on its CPU; 0 where that is not known.
  [[nodiscard]] std::uint64_t same_until(const perfdata::AuxBuffer& buffer, std::int32_t pid,
                                         std::uint64_t time_ns, std::uint64_t code_ns) const;

  // Returns false for processes whose code was not recorded: their trace is not decoded.
  [[nodiscard]] bool is_recorded(std::int32_t pid) const { return recorded_.contains(pid); }
  // Returns true where the branches of the process are emitted. Other processes are decoded as
  // well, because the processor's return stack continues from one to the next.
  [[nodiscard]] bool is_asked_for(std::int32_t pid) const { return !pid_ || *pid_ == pid; }

  // Returns the time in ns before which this context answers every question about the buffer as
  // `other` does, which was made when more of the recording was known.
  [[nodiscard]] std::uint64_t agrees_before(const DecodeContext& other,
                                            const perfdata::AuxBuffer& buffer) const;
  // Returns the latest time about which owner() or code() was asked since forget_questions().
  [[nodiscard]] std::uint64_t latest_question_ns() const { return latest_question_ns_; }
  // Notes that the answers for a time were used which another question gave.
  void note_question(std::uint64_t time_ns) const {
    latest_question_ns_ = std::max(latest_question_ns_, time_ns);
  }
  void forget_questions() { latest_question_ns_ = 0; }

  // Gives back the memory of a section of the trace that is decoded.
  void forget(std::span<const std::byte> trace) const { recording_->forget(trace); }

  // One version of the code of a process.
  struct Code {
    Code(const symbols::AddressSpaceVersion& version, Detail detail)
        : image(version), graph(image, detail) {}
    CodeImage image;
    CodeGraph graph;
    std::unique_ptr<BranchConsumer> consumer; // null where the run lists all branches
  };
  // Returns the code of a process at a time. It is made once for each version of the address space.
  [[nodiscard]] Code& code(std::int32_t pid, std::uint64_t time_ns);
  [[nodiscard]] CodeGraph& graph(std::int32_t pid, std::uint64_t time_ns) {
    return code(pid, time_ns).graph;
  }

private:
  [[nodiscard]] perfdata::Running with_pid(perfdata::Running running) const;

  const perfdata::Recording* recording_;
  const symbols::AddressSpaces* spaces_;
  const perfdata::ContextSwitches* context_switches_;
  Detail detail_;
  std::uint32_t numbering_;
  pt_config config_{};
  ClockConfig clock_;
  std::vector<std::string> warnings_;
  std::map<std::int32_t, std::int32_t> pid_of_tid_;
  std::map<std::int32_t, bool> recorded_;
  std::optional<std::int32_t> pid_;
  perfdata::Running only_;
  mutable std::uint64_t latest_question_ns_ = 0;
  MakeConsumer make_consumer_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Code>> code_; // by serial of the version
};

} // namespace ptlens::flow
