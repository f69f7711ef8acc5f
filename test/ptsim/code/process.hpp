// The address space that the threads of a process share: its mappings, what is known of its code,
// and where the address filters are in it.
#pragma once

#include "base/error.hpp"
#include "code/address_filter.hpp"
#include "code/code_reader.hpp"
#include "code/places.hpp"

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace ptlens::ptsim {

class Process {
public:
  // `filters` is not owned.
  Process(pid_t pid, const std::vector<AddressFilter>& filters)
      : pid_(pid), code_(pid), filters_(&filters) {}
  // A child by fork(2), before either runs on.
  Process(pid_t pid, const Process& parent);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Places& places() { return places_; }
  [[nodiscard]] CodeReader& code() { return code_; }

  // Reads the mappings; returns those that are new. Errors: gone.
  Result<std::vector<Mapping>> update_mappings();
  // execve: nothing of the old program is left.
  void forget();

  // Where the filters let the trace through; null with no filter at all.
  [[nodiscard]] const std::vector<AddressRange>* filtered() const {
    return filters_->empty() ? nullptr : &filtered_;
  }

private:
  pid_t pid_;
  Places places_;
  CodeReader code_;
  const std::vector<AddressFilter>* filters_;
  std::vector<AddressRange> filtered_;
};

} // namespace ptlens::ptsim
