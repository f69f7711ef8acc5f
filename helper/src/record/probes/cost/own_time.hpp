// The CPU time of the helper and its children: reading binaries and setting probes also take time
// from a program that uses all CPUs.
#pragma once

namespace ptlens::record {

class OwnTime {
public:
  OwnTime() : began_ns_(now_ns()) {}

  // Returns the CPU time since then as a share of what a program that can use so many CPUs gets in
  // a recording of that duration; 0 where the duration is not known (0).
  [[nodiscard]] double share_since(double recording_s, double cpus) const;

private:
  [[nodiscard]] static double now_ns();

  double began_ns_;
};

} // namespace ptlens::record
