// Names are linkage names (--demangle=no), because several functions have the same demangled name:
// a function and its cold part, for example. A cold part is never patched: it does not begin with a
// return address on the stack.
//
// The pattern against cold parts is on both sides: uftrace 0.13 lets the first pattern decide,
// later versions the last one.
#include "record/uftrace/uftrace_command.hpp"

#include <fmt/format.h>

namespace ptlens::record {
namespace {

// uftrace takes at most three digits on each side of the decimal point.
std::string filter_time(std::uint64_t ns) {
  constexpr std::uint64_t thousand = 1000;
  if (ns < thousand) {
    return fmt::format("{}ns", ns);
  }
  std::uint64_t unit = thousand;
  const char* name = "us";
  for (const char* larger : {"ms", "s"}) {
    if (ns / unit >= thousand) {
      unit *= thousand;
      name = larger;
    }
  }
  return fmt::format("{}.{:03}{}", ns / unit, ns % unit * thousand / unit, name);
}

} // namespace

std::string exact_pattern(std::string_view name) {
  std::string pattern = "^";
  for (const char letter : name) {
    if (std::string_view(".[{()*+?^$|\\").find(letter) != std::string_view::npos) {
      pattern += '\\';
    }
    pattern += letter;
  }
  return pattern + "$";
}

std::vector<std::string> uftrace_command(const Request& request, const ProgramHooks& hooks,
                                         const UftraceSetting& setting) {
  std::vector<std::string> command = {setting.uftrace,
                                      "record",
                                      "--no-pager",
                                      "--color=no",
                                      "--demangle=no",
                                      "--match=regex",
                                      fmt::format("--data={}", setting.folder),
                                      fmt::format("--logfile={}", setting.log)};
  if (!hooks.compiled_in) {
    command.insert(command.end(), {"-v", "--debug-domain=dynamic:3"});
    std::vector<std::string> excluded = {"\\.cold"};
    for (const std::string& name : hooks.unsafe) {
      excluded.push_back(exact_pattern(name));
    }
    const auto exclude = [&] {
      for (const std::string& pattern : excluded) {
        command.insert(command.end(), {"-U", pattern});
      }
    };
    exclude();
    command.insert(command.end(), {"-P", "."});
    exclude();
  }
  for (const std::string& name : setting.only) {
    command.insert(command.end(), {"-F", exact_pattern(name)});
  }
  if (request.shortest_ns != 0) {
    command.push_back("--time-filter=" + filter_time(request.shortest_ns));
  }
  if (request.depth != 0) {
    command.push_back(fmt::format("--depth={}", request.depth));
  }
  command.emplace_back("--");
  command.insert(command.end(), request.program.begin(), request.program.end());
  return command;
}

} // namespace ptlens::record
