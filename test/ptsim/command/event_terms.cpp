// "intel_pt/cyc,mtc_period=3,noretcomp/u": the terms of the event, as the kernel's
// /sys/bus/event_source/devices/intel_pt/format declares them and perf's defaults set them
// (intel_pt_pmu_default_config, tools/perf/arch/x86/util/intel-pt.c).
#include "command/options.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

namespace ptlens::ptsim {
namespace {

struct Term {
  std::string_view name;
  unsigned shift;
  unsigned bits;
};

constexpr std::array<Term, 12> terms{{{"pt", 0, 1},
                                      {"cyc", 1, 1},
                                      {"pwr_evt", 4, 1},
                                      {"fup_on_ptw", 5, 1},
                                      {"mtc", 9, 1},
                                      {"tsc", 10, 1},
                                      {"noretcomp", 11, 1},
                                      {"ptw", 12, 1},
                                      {"branch", 13, 1},
                                      {"mtc_period", 14, 4},
                                      {"cyc_thresh", 19, 4},
                                      {"psb_period", 24, 4}}};

Error bad_event(const std::string& event, const std::string& why) {
  return Error{.kind = Error::Kind::bad_input,
               .message = fmt::format("event '{}': {}", event, why),
               .remedy = "give -e intel_pt/cyc,mtc_period=3,psb_period=0/u"};
}

std::uint64_t value_of(std::uint64_t config, std::string_view name) {
  for (const Term& term : terms) {
    if (term.name == name) {
      return config >> term.shift & ((std::uint64_t{1} << term.bits) - 1);
    }
  }
  return 0;
}

// False where there is no such term or the value does not fit.
bool set(std::uint64_t& config, std::string_view text) {
  const std::size_t equals = text.find('=');
  std::uint64_t value = 1;
  if (equals != std::string_view::npos) {
    const std::string_view digits = text.substr(equals + 1);
    const bool hex = digits.starts_with("0x");
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
    if (parsed.ec != std::errc{} || parsed.ptr != end) {
      return false;
    }
  }
  for (const Term& term : terms) {
    const std::uint64_t mask = (std::uint64_t{1} << term.bits) - 1;
    if (term.name == text.substr(0, equals) && value <= mask) {
      config = (config & ~(mask << term.shift)) | value << term.shift;
      return true;
    }
  }
  return false;
}

} // namespace

Result<void> parse_event(const std::string& event, Options& options) {
  constexpr std::string_view prefix = "intel_pt/";
  const std::size_t close = event.find('/', prefix.size());
  if (!event.starts_with(prefix) || close == std::string::npos) {
    return std::unexpected(bad_event(event, "is not an intel_pt event"));
  }
  const std::string_view modifier = std::string_view(event).substr(close + 1);
  options.kernel = modifier.empty();
  if (options.kernel) {
    options.warnings.emplace_back(
        "kernel code cannot be single-stepped: user code alone is traced");
  } else if (modifier != "u" && modifier != "uu" && modifier != "uP") {
    return std::unexpected(bad_event(event, "only user code can be single-stepped, modifier 'u'"));
  }
  std::uint64_t config = 0;
  for (const std::string_view term :
       {"pt", "tsc", "mtc", "branch", "mtc_period=3", "psb_period=3"}) {
    set(config, term);
  }
  std::string_view rest = std::string_view(event).substr(prefix.size(), close - prefix.size());
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view term = rest.substr(0, comma);
    if (!set(config, term)) {
      return std::unexpected(bad_event(event, fmt::format("term '{}' is not known", term)));
    }
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  for (const std::string_view term : {"pwr_evt", "fup_on_ptw", "ptw", "cyc_thresh"}) {
    if (value_of(config, term) != 0) {
      return std::unexpected(bad_event(event, fmt::format("term '{}' is not simulated", term)));
    }
  }
  if (value_of(config, "pt") == 0 || value_of(config, "branch") == 0) {
    return std::unexpected(bad_event(event, "a trace without branches is not simulated"));
  }
  options.event = event;
  options.event_config = config;
  options.trace.tsc = value_of(config, "tsc") != 0;
  options.trace.mtc = value_of(config, "mtc") != 0;
  options.trace.cyc = value_of(config, "cyc") != 0;
  options.trace.return_compression = value_of(config, "noretcomp") == 0;
  options.trace.mtc_period = static_cast<std::uint8_t>(value_of(config, "mtc_period"));
  options.trace.psb_period = static_cast<std::uint8_t>(value_of(config, "psb_period"));
  return {};
}

} // namespace ptlens::ptsim
