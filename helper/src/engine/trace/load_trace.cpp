// A bundle is unpacked first.
#include "engine/trace/load_trace.hpp"

#include "engine/bundle/bundle.hpp"

namespace ptlens::engine {

Result<LoadedRecording> load_trace(const std::string& named, const OpenOptions& options) {
  const auto recording = unpacked(named);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  auto loaded = load(*recording, options);
  if (loaded && !loaded->has_trace()) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = "the recording contains no Intel PT trace",
              .file = loaded->recording.path(),
              .remedy = "record with 'perf record -e intel_pt//u' or 'ptlens record'"});
  }
  return loaded;
}

} // namespace ptlens::engine
