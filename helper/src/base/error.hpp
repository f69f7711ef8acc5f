// The form in which every part of the helper reports an error: one line with the file, the offset
// in it, the problem, and what to do about it. No exception crosses a module's border: every
// function that can fail returns a Result.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace ptlens {

struct Error {
  enum class Kind {
    bad_input,   // a file, binary or message is not what it must be
    not_found,   // a file, function, process or recording with that name does not exist
    no_rights,   // the operating system refuses
    unsupported, // well-formed, but this version or machine cannot do it
    gone,        // the process ended or was replaced
    cancelled,   // the user asked to stop
    ambiguous,   // a name means several functions; `candidates` lists them
    failed,      // anything else that the operating system or a child process reports
  };

  Kind kind = Kind::failed;
  std::string message = {};                 // the problem; no full stop at the end
  std::string file = {};                    // the file concerned, empty where there is none
  std::optional<std::uint64_t> offset = {}; // byte offset in that file
  std::string remedy = {};                  // what the user can do; no full stop at the end

  // A function that an ambiguous name may mean.
  struct Candidate {
    std::string name;
    std::string binary;        // path, empty where unknown
    std::uint64_t address = 0; // ELF virtual address
  };
  std::vector<Candidate> candidates = {}; // only of kind `ambiguous`

  // Returns "FILE: offset 0x1f0: MESSAGE; REMEDY", without the parts that are empty and without
  // newlines.
  [[nodiscard]] std::string one_line() const;
};

template <class T>
using Result = std::expected<T, Error>;

} // namespace ptlens
