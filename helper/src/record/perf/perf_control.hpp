// The two channels of `perf record --control fd:CTL,ACK` (perf-record(1)): commands go down as text
// ("enable", "stop"), perf answers each with "ack\n".
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

  // The value of --control. The numbers are those of child_ends(), which perf must inherit.
  [[nodiscard]] std::string argument() const;
  [[nodiscard]] std::array<int, 2> child_ends() const {
    return {command_child_.get(), answer_child_.get()};
  }
  // To be called once perf has been started: the end of its ends then tells that it is gone.
  void close_child_ends();

  // False when perf no longer listens.
  bool send(std::string_view command);

  enum class Answer { none, acknowledged, closed };
  // What has arrived since the last call, without waiting.
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
