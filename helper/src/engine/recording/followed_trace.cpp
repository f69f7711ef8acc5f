// perf writes the size of the data section last. Until then the file is read like the file of a
// perf that was killed: up to its last whole record. It is read from its beginning each time, so
// that each time it must have grown by a share of its size.
#include "engine/recording/followed_trace.hpp"

#include "base/parallel.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "stacks/pairing/call_pairing.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ptlens::engine {
namespace {

constexpr std::uint64_t least_growth = std::uint64_t{1} << 20U; // bytes
constexpr std::uint64_t growth_share = 8;

// The kernel's code is copied when perf ends. A snapshot is written then. An address filter needs
// every branch.
bool can_follow(const LoadedRecording& loaded) {
  const auto& trace = loaded.recording.intel_pt();
  return trace && !trace->snapshot_mode && loaded.address_filter().empty() &&
         std::ranges::none_of(loaded.recording.attributes(), [&](const auto& attribute) {
           return attribute.type == trace->pmu_type && !attribute.exclude_kernel;
         });
}

} // namespace

// What was decoded takes ten times the memory of its trace.
std::uint64_t FollowedTrace::most_memory() const {
  constexpr std::uint64_t share = 4; // of what decoding may use
  constexpr std::uint64_t most = 256U << 20U;
  return std::min(most, memory_bound(options_) / share);
}

FollowedTrace::FollowedTrace(std::string recording, OpenOptions options)
    : recording_(std::move(recording)), options_(std::move(options)) {}

void FollowedTrace::go_on(const std::function<void(const std::string&)>& read,
                          const std::function<bool()>& stopped) {
  std::error_code failed;
  const std::uint64_t size = std::filesystem::file_size(data_file(recording_), failed);
  if (failed || size < seen_ + std::max(least_growth, seen_ / growth_share) ||
      decoded_->memory() >= most_memory()) {
    return;
  }
  seen_ = size;
  if (const auto recording = perfdata::Recording::open(data_file(recording_))) {
    for (const perfdata::Mapping& mapping : recording->mappings()) {
      if (!stopped() && mapping.pid != -1 && mapped_.insert(mapping.path).second) {
        read(mapping.path);
      }
    }
  }
  auto loaded = load(recording_, options_);
  if (!loaded || stopped() || !can_follow(*loaded)) {
    return;
  }
  const auto owner = std::make_shared<const LoadedRecording>(*std::move(loaded));
  trace_bytes_ = owner->recording.trace_bytes();
  flow::RecordingSoFar so_far{.owner = owner,
                              .recording = &owner->recording,
                              .context = std::make_unique<flow::DecodeContext>(
                                  owner->recording, *owner->spaces, *owner->context_switches,
                                  flow::Detail::calls, owner->pid,
                                  owner->decode.workers + contexts_, stacks::make_call_pairing)};
  ++contexts_;
  decoded_->decode(std::move(so_far), owner->decode.segment_bytes,
                   [&] { return !stopped() && decoded_->memory() < most_memory(); });
}

std::uint64_t FollowedTrace::bytes_behind() const {
  std::error_code failed;
  const std::uint64_t size = std::filesystem::file_size(data_file(recording_), failed);
  const std::uint64_t unseen = failed || size < seen_ ? 0 : size - seen_;
  return unseen + trace_bytes_ - std::min(trace_bytes_, decoded_->bytes_done());
}

} // namespace ptlens::engine
