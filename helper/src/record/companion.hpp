// Work of the helper that goes on while a program is traced.
#pragma once

#include "base/interface.hpp"
#include "base/note.hpp"
#include "record/request.hpp"

#include <optional>

namespace ptlens::record {

class Companion : public Interface {
public:
  // Called before the trace begins. The output folder of the request exists, and contains the files
  // that only the process has.
  virtual void begin(const Request& running) = 0;
  // Called when the trace has ended. Returns what it cost the machine, for the recording's notes.
  virtual std::optional<Note> end() = 0;
};

} // namespace ptlens::record
