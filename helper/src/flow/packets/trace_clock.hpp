// Computes the processor's time from the timing packets of a trace. TSC and TMA give the base, MTC
// adds crystal ticks to it, and CYC adds core cycles to the later of the two. Arithmetic: Intel SDM
// vol. 3, "Intel Processor Trace", sections on TMA, MTC and CYC; kernel
// tools/perf/util/intel-pt-decoder (intel_pt_calc_tma, intel_pt_calc_mtc_timestamp,
// intel_pt_calc_cyc_timestamp,
// intel_pt_fixup_last_mtc).
#pragma once

#include "flow/packets/packet_parser.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ptlens::flow {

struct ClockConfig {
  std::uint32_t tsc_per_crystal_numerator = 0;   // CPUID leaf 0x15 EBX
  std::uint32_t tsc_per_crystal_denominator = 0; // EAX
  std::uint32_t mtc_shift = 0;                   // an MTC comes every 2^mtc_shift crystal ticks
  std::uint32_t nominal_ratio = 0;               // maximum non-turbo core : bus ratio
  bool every_cycle = false; // each TNT and TIP has a CYC packet before it, unless no cycle passed

  bool operator==(const ClockConfig&) const = default;
};

class TraceClock {
public:
  explicit TraceClock(const ClockConfig& config) : config_(config) {}

  // To be called for each packet in the order of the trace, with the payload of the packet.
  void on_tsc(std::uint64_t tsc);
  void on_tma(std::uint16_t crystal, std::uint16_t fast);
  void on_mtc(std::uint8_t crystal);
  void on_cyc(std::uint64_t cycles) {
    cycles_ += cycles;
    if (scales_) [[likely]] {
      latest_ = std::max(latest_, base_ + cycles_to_tsc());
    } else {
      lost_cycles_ = true;
    }
  }
  void on_cbr(std::uint8_t ratio);
  // Takes a packet whose size is known. Returns false for packets that do not state time.
  bool take(const RawPacket& raw) {
    switch (raw.kind) {
    case RawKind::cyc:
      on_cyc(raw.payload);
      return true;
    case RawKind::mtc:
      on_mtc(static_cast<std::uint8_t>(raw.payload));
      return true;
    case RawKind::tsc:
      on_tsc(raw.payload);
      return true;
    case RawKind::tma:
      on_tma(static_cast<std::uint16_t>(raw.payload), raw.fast);
      return true;
    case RawKind::cbr:
      on_cbr(static_cast<std::uint8_t>(raw.payload));
      return true;
    default:
      return false;
    }
  }
  // Overflow: cycles were lost, and the base does not change until the next TSC or MTC.
  void on_overflow();

  // Returns the TSC ticks at the last timing packet; nullopt before the first TSC.
  [[nodiscard]] std::optional<std::uint64_t> now() const {
    return has_base_ ? std::optional{latest_} : std::nullopt;
  }
  // Returns false where lost or unscaled cycles make now() a lower bound only.
  [[nodiscard]] bool is_certain() const { return has_base_ && !lost_cycles_; }
  // Returns true where lost cycles alone make the time uncertain, once it has been certain.
  [[nodiscard]] bool lost_cycles() const { return lost_cycles_; }
  // Returns the TSC ticks at the last timing packet, 0 before the first TSC.
  [[nodiscard]] std::uint64_t latest() const { return latest_; }

private:
  static constexpr unsigned inverse_shift = 56;

  [[nodiscard]] std::uint64_t crystal_to_tsc(std::uint64_t ticks) const;
  void complete_last_mtc(std::uint8_t crystal);
  void find_scale() { scales_ = has_base_ && ratio_ != 0 && config_.nominal_ratio != 0; }
  // CBR: core cycles per bus cycle; the TSC runs at the nominal ratio. The division is done by
  // multiplication: floor(n / d) = (n * ceil(2^56 / d)) >> 56 for d < 2^8 and n < 2^48 (Granlund
  // and Montgomery, "Division by invariant integers using multiplication", 1994).
  [[nodiscard]] std::uint64_t cycles_to_tsc() const {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t scaled = cycles_ * config_.nominal_ratio;
    return (scaled >> 48U) == 0
               ? static_cast<std::uint64_t>((Wide{scaled} * inverse_ratio_) >> inverse_shift)
               : scaled / ratio_;
  }

  ClockConfig config_;
  bool has_base_ = false;
  bool has_crystal_ = false;
  std::uint64_t base_ = 0;           // TSC at the last TSC or MTC packet
  std::uint64_t crystal_base_ = 0;   // TSC at crystal count `crystal_origin_`
  std::uint64_t crystal_origin_ = 0; // crystal ticks, low 16 bits as in TMA
  std::uint64_t crystal_ticks_ = 0;  // since the origin, at the last MTC
  std::uint8_t last_mtc_ = 0;
  bool last_mtc_is_short_ = false;  // from a TMA, which does not contain its high bits
  std::uint64_t cycles_ = 0;        // since base_
  std::uint8_t ratio_ = 0;          // 0: not known
  std::uint64_t inverse_ratio_ = 0; // ceil(2^56 / ratio_)
  bool lost_cycles_ = false;
  bool scales_ = false; // cycles can be converted to time: base and both ratios are known
  std::uint64_t latest_ = 0;
};

} // namespace ptlens::flow
