// The parser reports missing options before unknown ones, so that a misspelled option looks like a
// missing one.
#include "cli/usage.hpp"

#include "symbols/names/edit_distance.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace ptlens::cli {
namespace {

// Returns "; did you mean X?", or nothing where no name is near.
std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t longest_name = 64;
  std::size_t least = 4; // as many edits make another word
  std::string nearest;
  for (const std::string& each : known) {
    const std::size_t edits = symbols::edit_distance(name.substr(0, longest_name), each, least);
    if (edits < least && edits + 1 < each.size()) {
      least = edits;
      nearest = each;
    }
  }
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::string unknown_option(const CLI::App& command, std::span<const char* const> arguments) {
  bool positional = false;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string_view argument = arguments[at];
    if (argument == "--") {
      break;
    }
    if (argument.size() < 2 || !argument.starts_with('-')) {
      positional = true;
      continue;
    }
    const bool is_long = argument.starts_with("--");
    const std::size_t equals = argument.find('=');
    const std::string name(is_long ? argument.substr(0, equals) : argument.substr(0, 2));
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option == nullptr) {
      const bool starts_program = command.get_option_no_throw("PROGRAM") != nullptr;
      return fmt::format("`ptlens {}` has no option {}{}", command.get_name(), name,
                         positional && starts_program
                             ? "; if it belongs to the program, write -- before the program"
                             : suggestion(name, option_names(command)));
    }
    const bool value_follows = is_long ? equals == std::string_view::npos : argument.size() == 2;
    if (value_follows && option->get_items_expected_min() > 0) {
      ++at;
    }
  }
  return {};
}

} // namespace

std::string unknown_name(const CLI::App& app, std::span<const char* const> arguments) {
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string argument = arguments[at];
    if (argument.starts_with('-')) {
      if (app.get_option_no_throw(argument) == nullptr) {
        return fmt::format("ptlens has no option {} before the command", argument);
      }
      continue;
    }
    std::vector<std::string> commands;
    for (const CLI::App* const command :
         app.get_subcommands([](const CLI::App* /*each*/) { return true; })) {
      if (command->get_name() == argument) {
        return unknown_option(*command, arguments.subspan(at + 1));
      }
      commands.push_back(command->get_name());
    }
    return fmt::format("ptlens has no command {}{}", argument, suggestion(argument, commands));
  }
  return {};
}

} // namespace ptlens::cli
