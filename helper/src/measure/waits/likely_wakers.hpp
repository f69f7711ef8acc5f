// Who probably ended a wait for a lock, where no waking was recorded: the last call on another
// thread that releases a lock or signals a waiting thread, and that began during the wait.
#pragma once

#include "measure/measurement.hpp"
#include "measure/places/source_place.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::measure {

struct LikelyWaker {
  std::int32_t tid = -1;
  SourcePlace place;  // the call site of the release
  std::string called; // the function that releases, for example pthread_mutex_unlock
};

class LikelyWakers {
public:
  // The measurement must outlive the object.
  explicit LikelyWakers(const Measurement& measurement) : measurement_(measurement) {}

  [[nodiscard]] std::optional<LikelyWaker> find(const waits::Wait& wait);

private:
  struct Release {
    std::uint64_t start = 0;
    std::uint32_t thread = 0;
    std::uint32_t order = 0;
    stacks::SiteId site = stacks::SiteId::none;
    stacks::FunctionId function = stacks::FunctionId::none;
  };
  void read();

  const Measurement& measurement_;
  bool read_ = false;
  std::vector<Release> releases_; // in order of start
};

} // namespace ptlens::measure
