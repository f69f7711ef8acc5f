// The same questions answered the slowest and plainest way, straight from the definitions: what the
// module is compared with. It shares no code with it.
#pragma once

#include "measure/recordings.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ptlens::measure::naive {

using Calls = std::vector<std::uint32_t>; // rows
using CallsByPlace = std::map<std::pair<stacks::FunctionId, stacks::SiteId>, Calls>;
using Path = std::vector<stacks::FunctionId>; // functions, outermost first

std::uint64_t percentile(const test::Recording& m, const Calls& calls, std::uint64_t per_mille);
double mean(const test::Recording& m, const Calls& calls);
double stddev(const test::Recording& m, const Calls& calls);
std::uint64_t total(const test::Recording& m, const Calls& calls);
std::uint64_t off_cpu(const test::Recording& m, const Calls& calls);

bool is_inside(const test::Recording& m, std::uint32_t call, std::uint32_t outer);

// On-CPU time of those calls that are in none of the others of the same function.
std::uint64_t outermost_on_cpu(const test::Recording& m, const Calls& calls);

Calls calls_of(const test::Recording& m, stacks::FunctionId function);
Calls only_complete(const test::Recording& m, const Calls& calls);

CallsByPlace by_caller(const test::Recording& m, const Calls& calls);
CallsByPlace children_of(const test::Recording& m, const Calls& calls);

struct Frame {
  std::uint64_t self = 0;
  std::uint64_t calls = 0;
};
enum class Time { wall, on, off };
// `top`: the stack begins at the outermost call of these that a call is inside of (or is).
// Without: at its root.
std::map<Path, Frame> stacks_of(const test::Recording& m, const Calls& counted, const Calls* top,
                                Time time);

} // namespace ptlens::measure::naive
