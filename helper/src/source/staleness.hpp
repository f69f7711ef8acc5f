// Staleness: whether a figure still describes the source text and the binary that exist now. This
// is the one place that decides it.
#pragma once

namespace ptlens::source {

enum class Staleness {
  current,     // text and binary are the measured ones
  unknown,     // the measured text is not known
  file_edited, // the file was edited, but not this line or function
  newer,       // the measured text is not known, and the file is newer than the binary
  edited,      // the text is not the measured one
  rebuilt,     // the binary was rebuilt after the measurement
};

// Returns the staleness of a whole file. `known`: the checksums of the measured text are known;
// `shown`: the present text is known; `equal`: both texts are equal; `newer`: the file was written
// after the binary.
[[nodiscard]] Staleness staleness_of_file(bool known, bool shown, bool equal, bool newer);

// Returns the staleness of a line or a function in a file. `edited`: its own text is not the
// measured one; `rebuilt`: its binary was rebuilt. A rebuilt binary outranks an edited text,
// because measuring again is then enough.
[[nodiscard]] Staleness staleness_of(Staleness file, bool edited, bool rebuilt);

// Returns the name of the value in the protocol, for example "file_edited".
[[nodiscard]] const char* name_of(Staleness staleness);

} // namespace ptlens::source
