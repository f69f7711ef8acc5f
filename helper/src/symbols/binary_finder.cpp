// The search order of perf (tools/perf/util/dso.c, dso__load), with the build-id checked first.
#include "symbols/binary_finder.hpp"

#include "base/cancellation.hpp"
#include "symbols/dwarf/debuginfod.hpp"
#include "symbols/elf/build_id.hpp"
#include "symbols/elf/own_vdso.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ptlens::symbols {

namespace {

constexpr std::string_view vdso = "[vdso]";

std::string build_id_cache() {
  // Read on the thread that opens a recording; nothing in the helper changes the environment.
  const char* home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe)
  return home == nullptr ? "" : std::string(home) + "/.debug";
}

std::string joined(const std::string& folder, const std::string& path) {
  return folder + (path.starts_with('/') ? "" : "/") + path;
}

// Returns the paths to try, best first.
std::vector<std::string> candidate_paths(const BinaryFinder::Options& options,
                                         const std::string& path, const std::string& build_id) {
  std::vector<std::string> found;
  const std::string cache = build_id_cache();
  const bool is_vdso = path == vdso;
  if (!options.symfs.empty() && !is_vdso) {
    found.push_back(joined(options.symfs, path));
  }
  if (!options.recording_folder.empty()) {
    found.push_back(is_vdso ? joined(options.recording_folder, "vdso.so")
                            : joined(options.recording_folder, path));
  }
  // Under --symfs, a file elsewhere is used only when its build-id can be checked.
  if (!is_vdso && (options.symfs.empty() || !build_id.empty())) {
    found.push_back(path);
  }
  const std::optional<std::string> entry =
      cache.empty() ? std::nullopt : build_id_path(cache, build_id);
  if (entry) {
    found.push_back(*entry + (is_vdso ? "/vdso" : "/elf"));
  }
  if (is_vdso && options.made_here && !own_vdso_path().empty()) {
    found.push_back(own_vdso_path());
  }
  return found;
}

bool may_be_file(const std::string& path) {
  return path == vdso || (path.starts_with('/') && !path.starts_with("//") &&
                          !path.starts_with("/memfd:") && !path.starts_with("/dev/") &&
                          !path.starts_with("/SYSV") && !path.starts_with("/anon_hugepage"));
}

// Recorded ids are sometimes padded with zeros to 20 bytes.
bool same_id(std::span<const std::uint8_t> recorded, std::span<const std::uint8_t> own) {
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  return !own.empty() && recorded.size() >= own.size() &&
         std::ranges::equal(recorded.first(own.size()), own) &&
         std::ranges::all_of(recorded.subspan(own.size()), is_zero);
}

} // namespace

BinaryFinder::BinaryFinder(Options options) : options_(std::move(options)) {}

std::shared_ptr<const Binary> BinaryFinder::find(const std::string& path,
                                                 const std::vector<std::uint8_t>& build_id) {
  const auto [at, added] = opened_.try_emplace(std::pair(path, build_id));
  if (!added || cancel_asked()) {
    return at->second;
  }
  if (!may_be_file(path)) {
    missing_.push_back({.path = path, .build_id = build_id_text(build_id), .reason = "not a file"});
    return nullptr;
  }
  if (std::ranges::find(options_.certain, path) != options_.certain.end()) {
    if (auto binary = open(joined(options_.recording_folder, path))) {
      at->second = *std::move(binary);
      return at->second;
    }
  }
  // The reported reason is the one for the best path at which a file exists.
  std::string reason;
  bool reason_is_of_a_file = false;
  std::vector<std::string> candidates = candidate_paths(options_, path, build_id_text(build_id));
  bool fetched = path == vdso;
  for (std::size_t index = 0;; ++index) {
    if (index == candidates.size()) {
      const auto more = fetched ? std::nullopt : fetch_binary(build_id);
      fetched = true;
      if (!more) {
        break;
      }
      candidates.push_back(*more);
    }
    const std::string& candidate = candidates[index];
    Result<std::shared_ptr<const Binary>> binary = open(candidate);
    const bool exists = binary || binary.error().kind != Error::Kind::not_found;
    std::string refused;
    if (!binary) {
      refused = binary.error().one_line();
    } else if (!build_id.empty() && !same_id(build_id, (*binary)->build_id())) {
      refused = fmt::format("{}: its build-id {} differs from the recorded one", candidate,
                            (*binary)->build_id().empty() ? "(none)"
                                                          : build_id_text((*binary)->build_id()));
    } else {
      at->second = *std::move(binary);
      return at->second;
    }
    if (reason.empty() || (exists && !reason_is_of_a_file)) {
      reason = std::move(refused);
      reason_is_of_a_file = exists;
    }
  }
  if (reason.empty()) {
    reason = fmt::format("{}: not in the recording's folder", path);
  }
  missing_.push_back({.path = path, .build_id = build_id_text(build_id), .reason = reason});
  return nullptr;
}

Result<std::shared_ptr<const Binary>> BinaryFinder::open(const std::string& file) const {
  if (options_.read) {
    if (auto binary = options_.read->find(file)) {
      return binary;
    }
  }
  return Binary::open(file);
}

const std::vector<MissingBinary>& BinaryFinder::missing() const {
  return missing_;
}

} // namespace ptlens::symbols
