#include "server/requests/command_line.hpp"

#include "measure/names/find_function.hpp"
#include "measure/selection/selection_text.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace ptlens::server {

namespace {

class Arguments {
public:
  explicit Arguments(std::vector<std::string> first) : list_(std::move(first)) {}

  void add(const char* option, std::string value) {
    if (!value.empty()) {
      list_.emplace_back(option);
      list_.push_back(std::move(value));
    }
  }
  void add(const char* flag) { list_.emplace_back(flag); }
  void add(std::vector<std::string> more) {
    list_.insert(list_.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(list_); }

private:
  std::vector<std::string> list_;
};

// Adds the options that name the function and no other, the shortest that do.
void add_function(Arguments& arguments, const measure::Measurement& measurement,
                  stacks::FunctionId function) {
  const stacks::FunctionInfo& info = measurement.functions[function];
  for (const std::string& name :
       {symbols::last_component(info.name), symbols::without_parameters(info.name)}) {
    const auto found = measure::find_function(measurement, name, {});
    if (found && *found == function) {
      arguments.add("--function", name);
      return;
    }
  }
  arguments.add("--function", fmt::format("{}@{:#x}", info.name, info.address));
  arguments.add("--binary", info.binary);
}

} // namespace

std::vector<std::string> command_line(const measure::Measurement& measurement,
                                      const CommandSubject& subject,
                                      const measure::Selection& selection) {
  const OpenRequest& source = *subject.source;
  Arguments arguments({"ptlens", subject.command, source.path});
  arguments.add("--symfs", source.symfs);
  arguments.add("--kallsyms", source.kallsyms);
  arguments.add("--kcore", source.kcore);
  for (const auto& root : source.source_map) {
    arguments.add("--source-map", fmt::format("{}={}", root.from, root.to));
  }
  if (source.pid) {
    arguments.add("--pid", std::to_string(*source.pid));
  }
  if (subject.function) {
    add_function(arguments, measurement, *subject.function);
  } else if (subject.asked) {
    arguments.add("--function", subject.asked->name);
    arguments.add("--binary", subject.asked->binary);
    if (subject.asked->all) {
      arguments.add("--all");
    }
  }
  arguments.add(measure::selection_options(selection));
  return arguments.take();
}

} // namespace ptlens::server
