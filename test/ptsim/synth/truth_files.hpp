// The truth as files: every call as a JSON line, and sums of each function of each thread.
#pragma once

#include "synth/call_stack.hpp"
#include "synth/kernel.hpp"
#include "synth/process.hpp"
#include "trace/clock.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace ptlens::ptsim::synth {

// Writes the lines of `ptsim record` (see main.cpp), with the state "lost" for calls that the trace
// does not contain, and with start_seen. A line with "loss" describes missing trace.
class TruthFile : public CallSink {
public:
  // References are not owned. `clock` gives the time of units.
  TruthFile(std::ostream& out, const Process& process, const Clock& clock,
            const Kernel* kernel = nullptr);
  ~TruthFile() override { flush(); }
  TruthFile(const TruthFile&) = delete;
  TruthFile& operator=(const TruthFile&) = delete;
  TruthFile(TruthFile&&) = delete;
  TruthFile& operator=(TruthFile&&) = delete;

  void ended(const EndedCall& call) override;
  void lost(pid_t tid, std::uint64_t begin, std::uint64_t end, std::string_view reason) override;
  void flush();

private:
  std::ostream* out_;
  const Process* process_;
  const Clock* clock_;
  std::vector<std::string> names_; // the fields that are a function's, by FunctionId
  fmt::memory_buffer buffer_;
};

// Tab-separated: tid, binary, ELF address, symbol, complete, incomplete, unwound, lost, then of the
// complete calls latency and self time in all, ns.
class CallCounts : public CallSink {
public:
  CallCounts(const Process& process, const Clock& clock) : process_(&process), clock_(&clock) {}

  void ended(const EndedCall& call) override;
  void lost(pid_t, std::uint64_t, std::uint64_t, std::string_view) override {}
  void write(std::ostream& out) const;

private:
  struct Sum {
    std::uint64_t calls[4] = {}; // by CallState
    std::uint64_t latency = 0;   // units
    std::uint64_t self = 0;
  };
  const Process* process_;
  const Clock* clock_;
  std::map<pid_t, std::vector<Sum>> sums_; // by thread, by function
  pid_t last_tid_ = -1;
  std::vector<Sum>* last_ = nullptr; // of last_tid_
};

} // namespace ptlens::ptsim::synth
