// `ptlens processes`.
#include "cli/commands.hpp"
#include "export/json/machine_json.hpp"
#include "export/text/table.hpp"
#include "export/text/units.hpp"
#include "record/processes/process_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>

namespace ptlens::cli {
namespace {

using exporting::printable;

Result<void> list_threads(const ProcessesOptions& options) {
  const auto threads = record::threads(options.pid);
  if (!threads) {
    return std::unexpected(threads.error());
  }
  exporting::Table table({"tid", "CPU", exporting::text_column("name")});
  for (const record::Thread& thread : *threads) {
    table.add({std::to_string(thread.tid), exporting::percentage(thread.cpu_percent),
               printable(thread.name)});
  }
  std::cout << (options.json ? exporting::dump(exporting::threads_json(*threads)) + "\n"
                             : table.text(0));
  return {};
}

std::string mark(const record::Process& process) {
  std::string text = process.has_source ? "built from the source" : "";
  for (const auto& [is_so, words] : {std::pair(process.rebuilt, "rebuilt since it started"),
                                     std::pair(process.container, "in a container"),
                                     std::pair(!process.may_attach, "no rights")}) {
    if (is_so) {
      text += (text.empty() ? "" : ", ") + std::string(words);
    }
  }
  return text;
}

} // namespace

Result<void> processes(const ProcessesOptions& options) {
  if (options.pid != 0) {
    return list_threads(options);
  }
  const std::vector<record::Process> list = record::processes(options.source);
  if (options.json) {
    std::cout << exporting::dump(exporting::processes_json(list)) << '\n';
    return {};
  }
  exporting::Table table({"pid", exporting::text_column("user"), "age", "CPU", "threads",
                          exporting::text_column(""), exporting::text_column("command")});
  constexpr std::size_t longest = 100;
  for (const record::Process& process : list) {
    const std::string& command = process.command.empty() ? process.name : process.command;
    table.add({std::to_string(process.pid), printable(process.user),
               exporting::duration(process.age_s * exporting::ns_per_s),
               exporting::percentage(process.cpu_percent), std::to_string(process.threads),
               mark(process), printable(command.substr(0, longest))});
  }
  std::cout << table.text(0);
  return {};
}

} // namespace ptlens::cli
