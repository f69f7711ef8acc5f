// What is wrong with a command line that could not be parsed.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
}

namespace ptlens::cli {

// Returns one line on the first argument that no command or option has as its name, with the
// nearest name; empty where all names are known, so that the parser's own message is about the
// mistake. `arguments`: without the program's name.
[[nodiscard]] std::string unknown_name(const CLI::App& app, std::span<const char* const> arguments);

} // namespace ptlens::cli
