// The figures of several recordings on one source file: each function and each line shows those of
// one recording. A recording that was made to measure a function comes before one that only
// contains calls of it, and the active recording comes before the others, which are newest first.
#pragma once

#include "server/annotations/annotated_file.hpp"
#include "server/annotations/hover.hpp"
#include "server/annotations/line_annotations.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ptlens::server {

// The annotations of each recording that has some to show; never empty. No function and no line is
// in two of them.
using NewestFigures = std::vector<AnnotatedFile>;

// Returns the annotations of the file at `path`, as the client names it. `recordings`: the active
// one first. The baseline is compared with the active one only. Errors: those of annotate for the
// active recording, where no other recording has figures of the file.
[[nodiscard]] Result<NewestFigures>
newest_figures(std::span<const std::shared_ptr<OpenRecording>> recordings,
               const std::shared_ptr<OpenRecording>& baseline, const std::string& path,
               const Documents& documents);

// Each returns what the function of the same name returns for one recording.
[[nodiscard]] Json code_lenses(const NewestFigures& files, bool links);
[[nodiscard]] Json inlay_hints(const NewestFigures& files, const LineSpan& span);
[[nodiscard]] Json line_annotations(const NewestFigures& files, const LineSpan& span, bool heat);
[[nodiscard]] Json hover(const NewestFigures& files, std::uint32_t line, const HoverStyle& style);

} // namespace ptlens::server
