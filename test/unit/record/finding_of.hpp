#pragma once

#include "record/machine/doctor.hpp"

#include <algorithm>
#include <string_view>

namespace ptlens::record::test {

inline Finding finding_of(const Diagnosis& diagnosis, std::string_view id) {
  const auto found = std::ranges::find(diagnosis.findings, id, &Finding::id);
  return found == diagnosis.findings.end() ? Finding{.id = "absent"} : *found;
}

} // namespace ptlens::record::test
