// The code whose lines are timed, as it is mapped in each version of an address space, and the
// times and executions of its lines.
#pragma once

#include "line_time/line_sets.hpp"
#include "symbols/address_space.hpp"
#include "symbols/binary.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ptlens::line_time {

struct TimedCode {                         // ELF virtual addresses
  const symbols::Binary* binary = nullptr; // must outlive its users
  std::vector<symbols::CodeLine> lines;    // as Binary::own_lines returns them
  std::vector<std::uint64_t> entries;      // of the functions
};

// Straight code between two taken branches.
struct Stretch {
  std::uint32_t set = LineSets::only_elsewhere; // its lines, and elsewhere if other code is in it
  std::vector<std::uint32_t> lines;             // numbers, in order of first appearance
  std::uint32_t last = 0;                       // the line of its last byte, if that is timed
};

class TimedLines {
public:
  static constexpr std::uint32_t no_line = UINT32_MAX;

  explicit TimedLines(std::vector<TimedCode> code);

  // Returns the source lines by their numbers, ascending; 0: code without a line of the file.
  [[nodiscard]] const std::vector<std::uint32_t>& lines() const { return lines_; }

  // The code in one version of an address space, at process addresses.
  class View {
  public:
    [[nodiscard]] bool may_hold(std::uint64_t begin, std::uint64_t end) const {
      return begin < high_ && low_ < end;
    }
    // Returns the number of the line of the address; no_line in other code.
    [[nodiscard]] std::uint32_t line_at(std::uint64_t address) const;
    [[nodiscard]] bool is_entry(std::uint64_t address) const;
    // Returns the line of the call that returns to the address; no_line where it is not in the
    // code.
    [[nodiscard]] std::uint32_t line_of_call_before(std::uint64_t address);
    // Returns the code in [begin, end); null where none of it is timed. Valid until the next call.
    [[nodiscard]] const Stretch* stretch(std::uint64_t begin, std::uint64_t end);

  private:
    friend class TimedLines;
    struct Segment {
      std::uint64_t low = 0;
      std::uint64_t high = 0;
      std::uint32_t line = 0; // number
    };
    struct Ends {
      std::uint64_t begin = 0;
      std::uint64_t end = 0;
      bool operator==(const Ends&) const = default;
    };
    struct Hash {
      std::size_t operator()(const Ends& ends) const {
        constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U; // Fibonacci hashing
        const std::uint64_t mixed = (ends.begin * golden) ^ ends.end;
        return static_cast<std::size_t>(mixed ^ (mixed >> 29U));
      }
    };
    [[nodiscard]] Stretch made(std::uint64_t begin, std::uint64_t end) const;

    LineSets* sets_ = nullptr;
    const symbols::AddressSpaceVersion* space_ = nullptr;
    std::vector<Segment> segments_; // ordered, without overlaps
    std::vector<std::uint64_t> entries_;
    std::uint64_t low_ = UINT64_MAX;
    std::uint64_t high_ = 0;
    std::unordered_map<Ends, Stretch, Hash> stretches_;
    Ends last_ends_;
    const Stretch* last_ = nullptr;
    std::unordered_map<std::uint64_t, std::uint32_t> calls_; // line by return address
  };
  // The space must outlive the object.
  [[nodiscard]] View& in(const symbols::AddressSpaceVersion& space);

  [[nodiscard]] LineSets& sets() { return sets_; }
  [[nodiscard]] const LineSets& sets() const { return sets_; }

  std::vector<std::uint64_t> times;      // ns, by number of set
  std::vector<std::uint64_t> executions; // by number of line
  std::uint64_t cut = 0;                 // stretches that a gap interrupted

private:
  std::vector<TimedCode> code_;
  std::vector<std::uint32_t> lines_;
  LineSets sets_;
  std::unordered_map<std::uint64_t, std::unique_ptr<View>> views_; // by serial
};

} // namespace ptlens::line_time
