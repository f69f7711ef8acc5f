// Bytes of Intel Processor Trace packets, by libipt's packet encoder, with the compression of
// addresses against the last one sent (Intel SDM, "IP Compression").
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

struct pt_encoder;
struct pt_packet;

namespace ptlens::ptsim {

enum class IpPacket : std::uint8_t { fup, tip, tip_pge, tip_pgd };

class PacketWriter {
public:
  PacketWriter();
  PacketWriter(const PacketWriter&) = delete;
  PacketWriter& operator=(const PacketWriter&) = delete;
  PacketWriter(PacketWriter&&) = delete;
  PacketWriter& operator=(PacketWriter&&) = delete;
  ~PacketWriter();

  void psb(); // also forgets the last address
  void psbend();
  void tsc(std::uint64_t tsc); // lower 56 bits are sent
  void tma(std::uint16_t ctc, std::uint16_t fast_counter);
  void cbr(std::uint8_t ratio);
  void mtc(std::uint8_t ctc);
  void cyc(std::uint64_t cycles);
  void mode_exec_64bit();
  void tnt8(std::uint8_t bits,
            std::uint8_t count); // 1 to 6 outcomes, the oldest in the highest bit
  void ip(IpPacket packet, std::uint64_t address);
  void pgd_without_ip();

  // Bytes written since the last take().
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::uint8_t> take();
  [[nodiscard]] std::uint64_t total() const { return total_; } // bytes written ever

private:
  void append(const pt_packet& packet);

  struct FreeEncoder {
    void operator()(pt_encoder* encoder) const;
  };
  std::vector<std::uint8_t> scratch_;
  std::unique_ptr<pt_encoder, FreeEncoder> encoder_;
  std::vector<std::uint8_t> bytes_;
  std::uint64_t total_ = 0;
  std::uint64_t last_ip_ = 0;
  bool has_last_ip_ = false;
};

} // namespace ptlens::ptsim
