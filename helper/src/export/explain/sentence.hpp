// Explanations in sentences. All of them are made here, from figures; they name number, place and
// cause.
#pragma once

#include "measure/explain/explanation.hpp"

#include <string>

namespace ptlens::exporting {

// Returns "write_audit", or "an unknown function".
[[nodiscard]] std::string short_name(const measure::Measurement& measurement,
                                     stacks::FunctionId function);

// Returns "order_server.cpp:183", the line of a call site; empty where it is not known.
[[nodiscard]] std::string site_text(const measure::Measurement& measurement, stacks::SiteId site);

// Returns what the component does, such as "`lookup` (order.cpp:88) ran 9.1 times instead of once,
// each time as fast as ever".
[[nodiscard]] std::string cause_text(const measure::Measurement& measurement,
                                     const measure::Component& component);

// Returns "called lookup 9 times or more".
[[nodiscard]] std::string predicate_text(const measure::Measurement& measurement,
                                         const measure::Predicate& predicate);

// Returns the answer: what is typical, how much longer the slow calls take, and why.
[[nodiscard]] std::string explain_sentence(const measure::Measurement& measurement,
                                           const measure::Explanation& explanation);

// Returns the words of that sentence that name the largest cause: "93 % of that: lock in `serve`".
// Empty where it names none.
[[nodiscard]] std::string main_cause(const measure::Measurement& measurement,
                                     const measure::Explanation& explanation);

} // namespace ptlens::exporting
