// A pipe whose ends are closed in programs that are started.
#pragma once

#include "base/error.hpp"
#include "record/processes/descriptor.hpp"

namespace ptlens::record {

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

// Errors: failed, with the kernel's reason.
[[nodiscard]] Result<Pipe> make_pipe();

} // namespace ptlens::record
