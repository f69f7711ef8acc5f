// Bytes of Intel Processor Trace packets (Intel SDM vol. 3, "Intel Processor Trace", "Packet
// Definitions"), with the compression of addresses against the last one sent ("IP Compression").
// What a fast walk sends all the time is inline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ptlens::ptsim {

enum class IpPacket : std::uint8_t { fup = 0x1d, tip = 0x0d, tip_pge = 0x11, tip_pgd = 0x01 };

class PacketWriter {
public:
  void psb(); // also forgets the last address
  void psbend();
  void ovf();                                              // also forgets the last address
  void tsc(std::uint64_t tsc);                             // lower 56 bits are sent
  void tma(std::uint16_t ctc, std::uint16_t fast_counter); // 9 bits of fast_counter
  void cbr(std::uint8_t ratio);
  void mtc(std::uint8_t ctc);
  void cyc(std::uint64_t cycles);
  void mode_exec_64bit();
  void tnt8(std::uint8_t bits,
            std::uint8_t count); // 1 to 6 outcomes, the oldest in the highest bit
  void ip(IpPacket packet, std::uint64_t address);
  void pgd_without_ip();

  // Takes back the last bytes of what was written since the last take(), as when the buffer ends
  // inside a packet.
  void cut(std::size_t bytes);

  // Bytes written since the last take() or clear().
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {buffer_.data(), used_}; }
  [[nodiscard]] std::vector<std::uint8_t> take() { return take(used_); }
  [[nodiscard]] std::vector<std::uint8_t> take(std::size_t count); // of the oldest
  void clear() { drop(used_); }
  void keep_last(std::size_t size) { drop(used_ - std::min(size, used_)); }
  [[nodiscard]] std::uint64_t total() const { return taken_ + used_; } // bytes written ever

private:
  static constexpr std::size_t largest_packet = 16;

  // Room for any packet.
  std::uint8_t* room() {
    if (buffer_.size() - used_ < largest_packet) {
      grow();
    }
    return buffer_.data() + used_;
  }
  void grow();
  void drop(std::size_t count); // the oldest

  std::vector<std::uint8_t> buffer_;
  std::size_t used_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t last_ip_ = 0;
  bool has_last_ip_ = false;
};

inline void PacketWriter::mtc(std::uint8_t ctc) {
  std::uint8_t* at = room();
  at[0] = 0x59;
  at[1] = ctc;
  used_ += 2;
}

// Five bits and a mark that more follow in the first byte, seven and a mark in each other.
inline void PacketWriter::cyc(std::uint64_t cycles) {
  constexpr std::uint64_t first_bits = 5;
  constexpr std::uint64_t next_bits = 7;
  std::uint8_t* at = room();
  std::uint64_t rest = cycles >> first_bits;
  at[0] = static_cast<std::uint8_t>((cycles & 0x1fU) << 3U | (rest != 0 ? 4U : 0U) | 3U);
  std::size_t size = 1;
  while (rest != 0) {
    const std::uint64_t more = rest >> next_bits;
    at[size++] = static_cast<std::uint8_t>((rest & 0x7fU) << 1U | (more != 0 ? 1U : 0U));
    rest = more;
  }
  used_ += size;
}

inline void PacketWriter::tnt8(std::uint8_t bits, std::uint8_t count) {
  *room() = static_cast<std::uint8_t>((1U << count | bits) << 1U);
  ++used_;
}

inline void PacketWriter::ip(IpPacket packet, std::uint64_t address) {
  constexpr unsigned compression_shift = 5;
  std::uint8_t* at = room();
  const std::uint64_t changed = address ^ last_ip_;
  unsigned compression = 3; // 6 bytes, sign-extended
  std::size_t size = 6;
  if (has_last_ip_ && changed >> 16U == 0) {
    compression = 1;
    size = 2;
  } else if (has_last_ip_ && changed >> 32U == 0) {
    compression = 2;
    size = 4;
  }
  at[0] =
      static_cast<std::uint8_t>(compression << compression_shift | static_cast<unsigned>(packet));
  std::memcpy(at + 1, &address, sizeof address);
  used_ += 1 + size;
  last_ip_ = address;
  has_last_ip_ = true;
}

} // namespace ptlens::ptsim
