// See pipe(2): O_CLOEXEC.
#include "record/processes/pipe.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace ptlens::record {

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    const int reason = errno;
    return std::unexpected(
        Error{.message = fmt::format("a pipe cannot be created: {}", std::strerror(reason)),
              .remedy = "close programs that have many open files"});
  }
  return Pipe{.read_end = Descriptor(ends[0]), .write_end = Descriptor(ends[1])};
}

} // namespace ptlens::record
