// `ptlens verify`: decodes a recording with both decoders and reports the first branch that
// differs.
#include "cli/commands.hpp"
#include "cli/progress_line.hpp"
#include "engine/trace/verify.hpp"
#include "export/json/json_text.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>

namespace ptlens::cli {
namespace {

exporting::Json difference_json(const engine::Difference& difference) {
  return {{"cpu", difference.cpu},          {"tid", difference.tid},
          {"offset", difference.offset},    {"ptlens", difference.ours},
          {"libipt", difference.reference}, {"before", difference.before}};
}

exporting::Json json(const std::string& recording, const engine::Verdict& verdict) {
  return {{"recording", recording},
          {"pieces", verdict.pieces},
          {"compared", verdict.compared},
          {"unjudged", verdict.unjudged},
          {"given_up", verdict.given_up},
          {"difference",
           verdict.difference ? difference_json(*verdict.difference) : exporting::Json(nullptr)}};
}

std::string text(const engine::Verdict& verdict) {
  std::string text = fmt::format("Branches compared with libipt's instruction decoder: {}\n",
                                 exporting::count(verdict.compared));
  if (verdict.given_up > 0) {
    text += fmt::format(
        "libipt gave up {} and continued at the next PSB; branches that it could not check: {}\n",
        exporting::count(verdict.given_up, "time"), exporting::count(verdict.unjudged));
  }
  if (!verdict.difference) {
    return text + "no difference\n";
  }
  const engine::Difference& difference = *verdict.difference;
  for (const std::string& branch : difference.before) {
    text += fmt::format("  both    {}\n", branch);
  }
  return text + fmt::format("  ptlens  {}\n  libipt  {}\n", difference.ours, difference.reference);
}

} // namespace

Result<void> verify(const RecordingOptions& options) {
  const auto verdict =
      engine::verify(options.recording, open_options(options), ProgressLine().progress());
  if (!verdict) {
    return std::unexpected(verdict.error());
  }
  if (options.json) {
    std::cout << exporting::dump(json(options.recording, *verdict)) << '\n';
  } else {
    std::cout << text(*verdict);
  }
  if (const std::optional<engine::Difference>& found = verdict.value().difference) {
    const engine::Difference& difference = *found;
    return std::unexpected(Error{
        .kind = Error::Kind::failed,
        .message = fmt::format("the decoders differ {} at offset {:#x} of the trace: ptlens has "
                               "\"{}\", libipt \"{}\"",
                               difference.cpu >= 0 ? fmt::format("on CPU {}", difference.cpu)
                                                   : fmt::format("in thread {}", difference.tid),
                               difference.offset, difference.ours, difference.reference),
        .file = options.recording,
        .remedy = "figures near this offset may be wrong; please report it with the recording"});
  }
  return {};
}

} // namespace ptlens::cli
