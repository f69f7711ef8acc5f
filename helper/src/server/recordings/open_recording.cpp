// Remembered answers.
#include "server/recordings/open_recording.hpp"

#include "base/cancellation.hpp"
#include "symbols/names/name_shape.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace ptlens::server {

Error cancelled_question() {
  return {.kind = Error::Kind::cancelled, .message = "the question was cancelled"};
}

protocol::FoundFunction found_function(const stacks::FunctionInfo& function,
                                       std::string linkage_name, std::string build_id) {
  return {.name = function.name,
          .binary = function.binary,
          .address = function.address,
          .file = function.file,
          .line = function.line,
          .spelling = symbols::without_parameters(function.name),
          .linkage_name = std::move(linkage_name),
          .build_id = std::move(build_id)};
}

Json with_id(const OpenRecording& recording, Json result) {
  Json described = {{"id", recording.id}};
  for (auto& [name, value] : result["recording"].items()) {
    described[name] = std::move(value);
  }
  result["recording"] = std::move(described);
  return result;
}

Result<std::shared_ptr<const measure::FileLines>> OpenRecording::lines(const std::string& file) {
  const std::lock_guard lock(mutex_);
  if (const auto at = lines_.find(file); at != lines_.end()) {
    return at->second;
  }
  auto found = measure::lines(*measurement, file);
  if (!found) {
    return std::unexpected(std::move(found.error()));
  }
  if (cancel_asked()) {
    return std::unexpected(cancelled_question());
  }
  if (damaged()) {
    return std::unexpected(Error{.kind = Error::Kind::failed,
                                 .message = "the call cache of the recording is damaged",
                                 .file = source.path,
                                 .remedy = "open it again"});
  }
  return lines_[file] = std::make_shared<const measure::FileLines>(std::move(*found));
}

std::shared_ptr<const measure::FileRuns> OpenRecording::runs(const measure::FileLines& lines) {
  const std::lock_guard lock(mutex_);
  auto& runs = runs_[lines.file];
  if (runs == nullptr) {
    runs = std::make_shared<const measure::FileRuns>(measure::file_runs(*measurement, lines));
  }
  return runs;
}

Result<OpenRecording::SharedInlined>
OpenRecording::inlined(const std::string& name, const std::string& binary,
                       const std::function<Result<SharedInlined>()>& measure) {
  const std::string key = name + '\n' + binary;
  {
    const std::lock_guard lock(mutex_);
    if (inlined_ != nullptr && inlined_of_ == key) {
      return inlined_;
    }
  }
  auto measured = measure();
  if (measured) {
    const std::lock_guard lock(mutex_);
    inlined_of_ = key;
    inlined_ = *measured;
  }
  return measured;
}

OpenRecording::SharedLineTimes OpenRecording::line_times(const std::string& file) {
  const std::lock_guard lock(mutex_);
  const auto at = line_times_.find(file);
  return at == line_times_.end() ? nullptr : at->second;
}

Result<OpenRecording::SharedLineTimes> OpenRecording::line_times(
    const measure::FileLines& lines,
    const std::function<Result<SharedLineTimes>(const std::vector<stacks::FunctionInfo>&)>&
        measure) {
  if (SharedLineTimes known = line_times(lines.file)) {
    return known;
  }
  std::vector<stacks::FunctionInfo> functions;
  for (const measure::FileFunction& entry : lines.functions) {
    functions.push_back(measurement->functions[entry.function]);
  }
  auto measured = measure(functions);
  if (measured && *measured != nullptr) {
    const std::lock_guard lock(mutex_);
    line_times_[lines.file] = *measured;
  }
  return measured;
}

OpenRecording::SharedFlame OpenRecording::flame(const FlameQuestion& question, double smallest,
                                                const std::function<measure::FlameTree()>& make) {
  constexpr std::size_t most_flames = 4; // two times of two graphs
  constexpr std::size_t most_nodes = 4'000'000;
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(flames_, question, &Flame::question);
    if (known != flames_.end() && known->smallest <= smallest) {
      std::rotate(flames_.begin(), known, std::next(known));
      return flames_.front().tree;
    }
  }
  auto made = std::make_shared<const measure::FlameTree>(make());
  const std::lock_guard lock(mutex_);
  if (!cancel_asked() && !damaged() && made->size() <= most_nodes) {
    std::erase_if(flames_, [&](const Flame& known) { return known.question == question; });
    flames_.push_front({.question = question, .smallest = smallest, .tree = made});
    flames_.resize(std::min(flames_.size(), most_flames));
  }
  return made;
}

} // namespace ptlens::server
