#include "record/probes/cost/own_time.hpp"

#include <initializer_list>
#include <sys/resource.h>

namespace ptlens::record {

double OwnTime::now_ns() {
  constexpr double ns_per_s = 1e9;
  constexpr double ns_per_us = 1e3;
  const auto ns_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * ns_per_s +
           static_cast<double>(time.tv_usec) * ns_per_us;
  };
  double ns = 0;
  for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    if (::getrusage(whose, &used) == 0) {
      ns += ns_of(used.ru_utime) + ns_of(used.ru_stime);
    }
  }
  return ns;
}

double OwnTime::share_since(double recording_s, double cpus) const {
  constexpr double ns_per_s = 1e9;
  const double could_run_ns = recording_s * cpus * ns_per_s;
  return could_run_ns <= 0 ? 0 : (now_ns() - began_ns_) / could_run_ns;
}

} // namespace ptlens::record
