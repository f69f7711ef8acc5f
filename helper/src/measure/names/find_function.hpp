// From the name that a user wrote to functions, or to an error that helps to correct it.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"
#include "measure/names/names.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::measure {

// Returns the index of the one function that `name` (and `binary`, when not empty: a path or the
// end of a path) matches: by its full name, its name without parameters and template arguments, or
// its last components ("f" and "C::f" match "ns::C::f(int)"). Only the best kind of match counts,
// in that order. "0x1234" and "name@0x1234" match the ELF address. Errors: not_found with the
// nearest names in the remedy; bad_input when several functions match, up to ten of them listed
// with binary and address.
[[nodiscard]] Result<stacks::FunctionId>
find_function(const Measurement& measurement, const std::string& name, const std::string& binary);

// Returns all functions that match: instances of a template, overloads, statics of equal names.
// Ascending.
[[nodiscard]] Result<std::vector<stacks::FunctionId>>
find_functions(const Measurement& measurement, const std::string& name, const std::string& binary);

// Returns the error of a name that matches no function, with the nearest names in the remedy.
[[nodiscard]] Error no_such_function(const Measurement& measurement, const std::string& name,
                                     const FunctionSelector& selector, const std::string& binary);

} // namespace ptlens::measure
