// Lines are put together by hand: nlohmann's takes longer than the whole walk.
#include "synth/truth_files.hpp"

#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <iterator>

namespace ptlens::ptsim::synth {
namespace {

constexpr std::size_t flush_size = 1 << 20;

const char* word(CallState state) {
  switch (state) {
  case CallState::complete:
    return "complete";
  case CallState::incomplete:
    return "incomplete";
  case CallState::unwound:
    return "unwound";
  case CallState::lost:
    return "lost";
  }
  return "";
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

TruthFile::TruthFile(std::ostream& out, const Process& process, const Clock& clock,
                     const Kernel* kernel)
    : out_(&out), process_(&process), clock_(&clock) {
  const CodeGraph& graph = process.graph();
  names_.reserve(graph.functions().size());
  for (FunctionId id = 0; id < graph.functions().size(); ++id) {
    const FunctionNode& function = graph.function(id);
    names_.push_back(fmt::format(
        R"("function":"{:#x}","binary":{},"address":"{:#x}","symbol":{})", process.entry(id),
        quoted(graph.binaries()[function.binary].path()), function.address, quoted(function.name)));
  }
  for (std::size_t at = 0; kernel != nullptr && at < kernel->functions().size(); ++at) {
    const Kernel::Function& function = kernel->functions()[at];
    names_.push_back(fmt::format(
        R"("function":"{0:#x}","binary":"[kernel.kallsyms]","address":"{0:#x}","symbol":"{1}")",
        function.entry, function.name));
  }
  fmt::format_to(std::back_inserter(buffer_),
                 "{{\"format\":\"ptsim-truth\",\"version\":1,\"tsc_hz\":{}}}\n",
                 clock.rates().tsc_hz());
}

void TruthFile::flush() {
  out_->write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void TruthFile::ended(const EndedCall& call) {
  const Frame& frame = *call.frame;
  fmt::format_to(
      std::back_inserter(buffer_),
      "{{\"tid\":{},{},\"start\":{},\"end\":{},\"depth\":{},\"caller\":\"{:#x}\",\"state\":\"{}\","
      "\"tail_call\":{},\"signal_handler\":{},\"off_cpu\":{},\"start_seen\":{}}}\n",
      call.tid, names_[frame.function], clock_->ns_at(frame.start), clock_->ns_at(call.end),
      call.depth, frame.caller, word(call.state), frame.kind == Frame::Kind::tail_call,
      frame.kind == Frame::Kind::handler, call.off_cpu_ns, frame.seen);
  if (buffer_.size() >= flush_size) {
    flush();
  }
}

void TruthFile::lost(pid_t tid, std::uint64_t begin, std::uint64_t end, std::string_view reason) {
  fmt::format_to(std::back_inserter(buffer_),
                 "{{\"tid\":{},\"loss\":\"{}\",\"start\":{},\"end\":{}}}\n", tid, reason,
                 clock_->ns_at(begin), clock_->ns_at(end));
}

void CallCounts::ended(const EndedCall& call) {
  if (call.frame->function >= process_->graph().functions().size()) {
    return; // of the kernel
  }
  if (call.tid != last_tid_ || last_ == nullptr) {
    last_tid_ = call.tid;
    last_ = &sums_[call.tid];
    last_->resize(process_->graph().functions().size());
  }
  Sum& sum = (*last_)[call.frame->function];
  ++sum.calls[static_cast<std::size_t>(call.state)];
  if (call.state == CallState::complete) {
    const std::uint64_t latency = call.end - call.frame->start;
    sum.latency += latency;
    sum.self += latency - call.frame->children;
  }
}

void CallCounts::write(std::ostream& out) const {
  const CodeGraph& graph = process_->graph();
  const auto ns = [this](std::uint64_t units) { return clock_->ns_at(units) - clock_->ns_at(0); };
  for (const auto& [tid, sums] : sums_) {
    for (FunctionId id = 0; id < sums.size(); ++id) {
      const Sum& sum = sums[id];
      const FunctionNode& function = graph.function(id);
      if (sum.calls[0] + sum.calls[1] + sum.calls[2] + sum.calls[3] != 0) {
        fmt::print(out, "{}\t{}\t{:#x}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", tid,
                   graph.binaries()[function.binary].path(), function.address, function.name,
                   sum.calls[0], sum.calls[1], sum.calls[2], sum.calls[3], ns(sum.latency),
                   ns(sum.self));
      }
    }
  }
}

} // namespace ptlens::ptsim::synth
