// Mappings by /proc/PID/maps.
#include "code/process.hpp"

#include <algorithm>

namespace ptlens::ptsim {
namespace {

std::vector<std::byte> vdso_image(pid_t pid, const std::vector<Mapping>& mappings) {
  const auto vdso = std::ranges::find(mappings, "[vdso]", &Mapping::path);
  if (vdso == mappings.end()) {
    return {};
  }
  std::vector<std::byte> image(vdso->end - vdso->start);
  image.resize(read_memory(pid, vdso->start, image));
  return image;
}

} // namespace

Process::Process(pid_t pid, const Process& parent)
    : pid_(pid), places_(parent.places_), code_(pid), filters_(parent.filters_),
      filtered_(parent.filtered_) {}

Result<std::vector<Mapping>> Process::update_mappings() {
  auto mappings = executable_mappings(pid_);
  if (!mappings) {
    return std::unexpected(mappings.error());
  }
  std::vector<Mapping> added;
  if (*mappings == places_.mappings()) {
    return added;
  }
  for (const Mapping& mapping : *mappings) {
    if (std::ranges::find(places_.mappings(), mapping) == places_.mappings().end()) {
      added.push_back(mapping);
    }
  }
  filtered_ = address_ranges(*filters_, *mappings);
  std::vector<std::byte> vdso = vdso_image(pid_, *mappings);
  places_.set_mappings(std::move(*mappings), std::move(vdso));
  code_.forget();
  return added;
}

void Process::forget() {
  places_.set_mappings({}, {});
  code_.forget();
  filtered_.clear();
}

} // namespace ptlens::ptsim
