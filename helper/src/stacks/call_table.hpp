// All calls of all threads in one table.
#pragma once

#include "stacks/call.hpp"
#include "stacks/closed_call.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace ptlens::stacks {

// Orders the table by thread, then by start, parents before children, renumbers the parents, and
// marks the inner activations.
void order(CallTable& table);

class CallTableBuilder {
public:
  // Where the calls of the thread with that index go. It stands until take().
  [[nodiscard]] CallSink& thread(std::uint32_t index);

  // All that was given, once all calls are closed: ordered, or by thread and number of opening.
  [[nodiscard]] CallTable take();
  [[nodiscard]] CallTable take_as_opened();

private:
  struct Rows final : CallSink {
    std::vector<ClosedCall> rows;
    void take(const ClosedCall& call) override { rows.push_back(call); }
  };
  std::vector<std::unique_ptr<Rows>> threads_;
};

} // namespace ptlens::stacks
