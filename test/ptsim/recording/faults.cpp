// Countdowns with random distances.
#include "recording/faults.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace ptlens::ptsim {
namespace {

constexpr std::uint64_t default_overflow_distance = 1000;
constexpr std::uint64_t default_truncate_distance = 4000;
constexpr std::uint64_t default_lost_distance = 8;
constexpr std::uint64_t default_trap_distance = 200;

} // namespace

Result<void> parse_fault(const std::string& text, FaultPlan& plan) {
  const std::string_view whole(text);
  const std::string_view name = whole.substr(0, whole.find(':'));
  std::uint64_t every = 0;
  if (name.size() < whole.size()) {
    constexpr std::string_view key = ":every=";
    const std::string_view rest = whole.substr(name.size());
    const std::string_view digits = rest.starts_with(key) ? rest.substr(key.size()) : "";
    const char* const begin = digits.data();
    const char* const end = begin + digits.size();
    const auto parsed = std::from_chars(begin, end, every);
    if (parsed.ec != std::errc{} || parsed.ptr != end || every == 0) {
      return std::unexpected(
          Error{.kind = Error::Kind::bad_input,
                .message = fmt::format("--fault {}: only :every=N, N > 0, may follow", text)});
    }
  }
  if (name == "ovf") {
    plan.overflow_every = every != 0 ? every : default_overflow_distance;
  } else if (name == "truncate") {
    plan.truncate_every = every != 0 ? every : default_truncate_distance;
  } else if (name == "cut") {
    plan.cut_every = every != 0 ? every : default_truncate_distance;
  } else if (name == "lost-sideband") {
    plan.lose_every = every != 0 ? every : default_lost_distance;
  } else if (name == "lost-trap") {
    plan.trap_every = every != 0 ? every : default_trap_distance;
  } else if (name == "no-pgd" && every == 0) {
    plan.no_end = true;
  } else {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = fmt::format("--fault {}: there is no such fault", text),
              .remedy = "give ovf, truncate, cut, lost-sideband, lost-trap or no-pgd"});
  }
  return {};
}

Faults::Faults(const FaultPlan& plan, std::uint64_t seed) : plan_(plan), random_(seed) {
  for (auto [remaining, every] :
       {std::pair{&overflow_in_, plan.overflow_every},
        std::pair{&truncate_in_, plan.truncate_every}, std::pair{&cut_in_, plan.cut_every},
        std::pair{&lose_in_, plan.lose_every}, std::pair{&trap_in_, plan.trap_every}}) {
    *remaining = every == 0 ? 0 : between(1, 2 * every);
  }
}

std::uint64_t Faults::between(std::uint64_t low, std::uint64_t high) {
  return low + random_() % (high - low);
}

bool Faults::due(std::uint64_t& remaining, std::uint64_t every) {
  if (every == 0 || --remaining != 0) {
    return false;
  }
  remaining = between(1, 2 * every);
  return true;
}

} // namespace ptlens::ptsim
