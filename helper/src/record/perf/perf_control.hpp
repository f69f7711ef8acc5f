// The two channels of `perf record --control fd:CTL,ACK` (perf-record(1)). Commands are text
// ("enable", "stop"), and perf answers each with "ack\n".
#pragma once

#include "base/error.hpp"
#include "record/processes/descriptor.hpp"

#include <array>
#include <string>
#include <string_view>

namespace ptlens::record {

class PerfControl {
public:
  static Result<PerfControl> make();

  // Returns the value of --control. perf must inherit child_ends(), whose numbers it contains.
  [[nodiscard]] std::string argument() const;
  [[nodiscard]] std::array<int, 2> child_ends() const {
    return {command_child_.get(), answer_child_.get()};
  }
  // Must be called after perf has started, so that answer() can report the end of perf.
  void close_child_ends();

  // Returns false when perf has closed its end.
  bool send(std::string_view command);

  enum class Answer { none, acknowledged, closed };
  // Returns the answer that arrived since the last call, without waiting.
  [[nodiscard]] Answer answer();
  [[nodiscard]] int answer_descriptor() const { return answer_.get(); }

private:
  PerfControl() = default;

  Descriptor command_;
  Descriptor command_child_;
  Descriptor answer_;
  Descriptor answer_child_;
};

} // namespace ptlens::record
