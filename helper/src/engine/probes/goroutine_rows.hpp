// Rows for the calls of goroutines. A row contains the calls of one goroutine at a time, and one
// after another those of many: a program may start a million goroutines. Each row is a further row
// of the thread on which the outermost call began.
#pragma once

#include "record/goroutine_sample.hpp"
#include "stacks/threads/probe_calls.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ptlens::engine {

struct GoroutineHit {
  std::int32_t pid = -1;
  std::int32_t tid = -1; // that the goroutine ran on
  std::uint64_t number = 0;
  bool end = false; // the goroutine ends; all other hits are in calls
  stacks::ProbeHit hit = {};
};

class GoroutineRows {
public:
  static constexpr std::size_t most_rows = 4096;

  // `calls_of` returns the calls of the row with that index, `add_row` the index of a new row.
  using CallsOf = std::function<stacks::ProbeCalls&(std::size_t)>;
  using AddRow = std::function<std::size_t(const GoroutineHit&)>;
  GoroutineRows(CallsOf calls_of, AddRow add_row)
      : calls_of_(std::move(calls_of)), add_row_(std::move(add_row)) {}

  void add(const GoroutineHit& hit);
  // Frees all rows. Their calls were closed: nothing was measured for a time.
  void clear();

  // Returns the number of hits that were left out: calls in more than most_rows goroutines at once.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

private:
  struct Goroutine {
    std::int32_t pid = -1;
    std::uint64_t number = 0;
    bool operator==(const Goroutine&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Goroutine& goroutine) const {
      constexpr unsigned pid_bits = 22; // PID_MAX_LIMIT
      return std::hash<std::uint64_t>()(goroutine.number << pid_bits ^
                                        static_cast<std::uint32_t>(goroutine.pid));
    }
  };

  struct Row {
    std::size_t index = 0;
    std::int32_t tid = -1;
  };

  std::optional<Row> row_for(const GoroutineHit& hit);

  CallsOf calls_of_;
  AddRow add_row_;
  std::unordered_map<Goroutine, Row, Hash> open_; // the row of goroutines with open calls
  std::unordered_map<std::int32_t, std::vector<std::size_t>> free_; // rows by thread
  std::size_t rows_ = 0;
  std::uint64_t left_out_ = 0;
};

} // namespace ptlens::engine
