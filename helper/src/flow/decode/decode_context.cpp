// Turns the recording's own description of its trace into libipt's configuration. Field sources:
// tools/perf/util/intel-pt.h (private fields of AUXTRACE_INFO), intel-pt.h (pt_config).
#include "flow/decode/decode_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>
#include <utility>

namespace ptlens::flow {
namespace {

// RTIT_CTL.CycThresh, in the bits that perf passes on (SDM vol. 3, "IA32_RTIT_CTL").
constexpr std::uint64_t cycle_threshold_bits = 0xfU << 19U;

// Reads text such as "GenuineIntel,6,85,4", the format of HEADER_CPUID.
std::optional<pt_cpu> parse_cpu(std::string_view text) {
  if (!text.starts_with("GenuineIntel,")) {
    return std::nullopt;
  }
  text.remove_prefix(std::string_view("GenuineIntel,").size());
  std::uint16_t fields[3] = {};
  for (std::uint16_t& field : fields) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
    if (error != std::errc{}) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(",")) {
      text.remove_prefix(1);
    }
  }
  return pt_cpu{pcv_intel, fields[0], static_cast<std::uint8_t>(fields[1]),
                static_cast<std::uint8_t>(fields[2])};
}

} // namespace

DecodeContext::DecodeContext(const perfdata::Recording& recording,
                             const symbols::AddressSpaces& spaces,
                             const perfdata::ContextSwitches& context_switches, Detail detail,
                             std::optional<std::int32_t> pid, std::uint32_t numbering,
                             MakeConsumer make_consumer)
    : recording_(&recording), spaces_(&spaces), context_switches_(&context_switches),
      detail_(detail), numbering_(numbering), pid_(pid), make_consumer_(std::move(make_consumer)) {
  pt_config_init(&config_);
  if (const auto cpu = parse_cpu(recording.cpu_id())) {
    config_.cpu = *cpu;
    if (pt_cpu_errata(&config_.errata, &config_.cpu) < 0) {
      warnings_.push_back(fmt::format("libipt does not know the errata of this processor ({}), so "
                                      "the trace was decoded without workarounds for errata",
                                      recording.cpu_id()));
    }
  } else {
    warnings_.emplace_back(
        "the recording does not name its processor, so the trace was decoded without "
        "workarounds for errata");
  }
  if (const auto& info = recording.intel_pt()) {
    clock_.tsc_per_crystal_numerator = info->tsc_ctc_numerator;
    clock_.tsc_per_crystal_denominator = info->tsc_ctc_denominator;
    clock_.nominal_ratio = info->max_nonturbo_ratio;
    for (const perfdata::Attribute& attribute : recording.attributes()) {
      if (attribute.type != info->pmu_type) {
        continue;
      }
      clock_.every_cycle = info->cyc_bit != 0 && (attribute.config & info->cyc_bit) != 0 &&
                           (attribute.config & cycle_threshold_bits) == 0;
      if (info->mtc_freq_bits != 0) {
        clock_.mtc_shift = static_cast<std::uint32_t>((attribute.config & info->mtc_freq_bits) >>
                                                      std::countr_zero(info->mtc_freq_bits)) &
                           0xfU;
      }
    }
    config_.cpuid_0x15_eax = info->tsc_ctc_denominator;
    config_.cpuid_0x15_ebx = info->tsc_ctc_numerator;
    config_.mtc_freq = static_cast<std::uint8_t>(clock_.mtc_shift);
    config_.nom_freq = static_cast<std::uint8_t>(info->max_nonturbo_ratio);
  }
  constexpr std::int32_t kernel = -1; // the pid of the kernel in symbols::AddressSpaces
  if (!spaces.at(kernel, 0).code.empty() &&
      std::ranges::any_of(recording.aux_buffers(),
                          [](const perfdata::AuxBuffer& buffer) { return buffer.cpu >= 0; })) {
    warnings_.emplace_back("the kernel was traced on each processor: after a thread switch inside "
                           "the kernel, calls are counted for the previous thread until the next "
                           "PSB packet or until tracing is switched on again");
  }
  for (const perfdata::Mapping& mapping : recording.mappings()) {
    if (mapping.pid > 0) {
      recorded_[mapping.pid] = true;
      pid_of_tid_.try_emplace(mapping.tid, mapping.pid);
    }
  }
  for (const perfdata::ThreadName& name : recording.thread_names()) {
    pid_of_tid_.try_emplace(name.tid, name.pid);
  }
  for (const perfdata::ThreadStart& start : recording.thread_starts()) {
    pid_of_tid_.try_emplace(start.tid, start.pid);
    if (recorded_.contains(start.parent_pid)) {
      recorded_[start.pid] = true;
    }
  }
  for (const perfdata::TraceStart& start : recording.trace_starts()) {
    pid_of_tid_.try_emplace(start.tid, start.pid);
  }
  if (recorded_.size() == 1) {
    only_ = {recorded_.begin()->first, recorded_.begin()->first};
  }
}

perfdata::Running DecodeContext::with_pid(perfdata::Running running) const {
  if (running.pid <= 0) {
    const auto known = pid_of_tid_.find(running.tid);
    running.pid = known == pid_of_tid_.end() ? running.tid : known->second;
  }
  return running;
}

perfdata::Running DecodeContext::owner(const perfdata::AuxBuffer& buffer,
                                       std::uint64_t time_ns) const {
  note_question(time_ns);
  if (buffer.tid > 0) {
    return with_pid({-1, buffer.tid});
  }
  const perfdata::Running running = context_switches_->running(buffer.cpu, time_ns);
  if (running.tid == 0) {
    return running;
  }
  return running.tid < 0 ? only_ : with_pid(running);
}

std::uint64_t DecodeContext::agrees_before(const DecodeContext& other,
                                           const perfdata::AuxBuffer& buffer) const {
  if (clock_ != other.clock_ || time_conversion() != other.time_conversion() ||
      detail_ != other.detail_ || pid_ != other.pid_) {
    return 0;
  }
  std::uint64_t before = UINT64_MAX;
  std::vector<perfdata::Running> threads;
  if (buffer.tid > 0) {
    threads.push_back({-1, buffer.tid});
  } else if (recording_->lost().empty() != other.recording_->lost().empty()) {
    return 0;
  } else {
    before = context_switches_->agrees_before(*other.context_switches_, buffer.cpu);
    threads = context_switches_->threads_on(buffer.cpu);
  }
  if (threads.empty()) {
    if (only_ != other.only_) {
      return 0;
    }
    threads.push_back(only_);
  }
  for (const perfdata::Running& thread : threads) {
    if (thread.tid <= 0) {
      continue;
    }
    const std::int32_t pid = with_pid(thread).pid;
    if (pid != other.with_pid(thread).pid || is_recorded(pid) != other.is_recorded(pid)) {
      return 0;
    }
    if (is_recorded(pid)) {
      before = std::min(before, spaces_->agrees_before(*other.spaces_, pid));
    }
  }
  return before;
}

// Where records were lost, the thread may have left the CPU and come back.
std::uint64_t DecodeContext::same_until(const perfdata::AuxBuffer& buffer, std::int32_t pid,
                                        std::uint64_t time_ns, std::uint64_t code_ns) const {
  const std::uint64_t code_until = spaces_->at(pid, code_ns).until_ns;
  if (buffer.tid > 0) {
    return code_until;
  }
  return recording_->lost().empty()
             ? std::min(code_until, context_switches_->running_until(buffer.cpu, time_ns))
             : 0;
}

DecodeContext::Code& DecodeContext::code(std::int32_t pid, std::uint64_t time_ns) {
  note_question(time_ns);
  const symbols::AddressSpaceVersion& version = spaces_->at(pid, time_ns);
  auto& code = code_[version.serial];
  if (!code) {
    code = std::make_unique<Code>(version, detail_);
    code->consumer = make_consumer_ ? make_consumer_(code->graph) : nullptr;
  }
  return *code;
}

} // namespace ptlens::flow
