// The options that select calls.
#pragma once

#include "measure/selection/selection_text.hpp"

namespace CLI {
class App;
}

namespace ptlens::cli {

// Adds the options to the command. A value that cannot be parsed is bad usage. `any_state`: without
// --state, calls in any state are meant.
void add_selection(CLI::App& command, measure::SelectionText& text, bool any_state);

} // namespace ptlens::cli
