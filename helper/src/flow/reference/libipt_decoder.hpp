// A piece decoder that follows the code with libipt's instruction decoder, from each PSB to the
// next gap. libipt reports instructions and events without times: the times come from the packets
// that libipt has used by then. libipt can begin at a PSB only, and stops at code that it does not
// have; our own walker decodes up to the next PSB.
#pragma once

#include "flow/decode/piece_decoder.hpp"

#include <intel-pt.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace ptlens::flow {

class LibiptDecoder final : public PieceDecoder {
public:
  LibiptDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer, const TracePiece& piece);

private:
  struct Free {
    void operator()(pt_insn_decoder* decoder) const { pt_insn_free_decoder(decoder); }
  };
  struct Pending { // the last instruction
    std::uint64_t address = 0;
    Instruction instruction;
    std::optional<std::uint64_t> next; // where it goes to, if a packet decides that
  };

  bool synchronise(std::uint64_t psb_offset, std::uint64_t address, bool begins) override;
  void step() override;
  void finish() override;
  void passed(const Packet& packet) override;

  void handle(const pt_event& event);
  void fail(int status, std::uint64_t failed_at);
  void accept(const pt_insn& instruction);
  // The pending instruction went on at `next`.
  void finish_instruction(std::uint64_t next);
  void finish_decided_instruction();
  void leave(std::uint64_t to);
  void emit_decided(BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size);
  void switch_on(std::uint64_t address);
  void read_packets();
  void advance_to(std::uint64_t offset);
  // Dates the instruction by the packet that decides where it goes to. Returns false where no
  // packet does.
  bool decide_end(const Instruction& last);
  [[nodiscard]] std::optional<std::uint64_t> decided_next(std::uint64_t address,
                                                          const Instruction& last);
  [[nodiscard]] std::uint64_t decoder_offset() const;

  PieceBytes bytes_;
  std::unique_ptr<pt_insn_decoder, Free> decoder_;
  int status_ = 0;
  Packet last_flow_;      // the last TNT, TIP, FUP or PSBEND passed
  Packet last_enabling_;  // the last TIP.PGE
  Packet last_disabling_; // the last TIP.PGD
  Packet last_decision_;  // the last TNT, or TIP that does not belong to an asynchronous event
  std::uint64_t used_packet_ = 0; // end of the packet that the last decision came from
  std::uint8_t used_bits_ = 0;    // of that packet
  std::optional<Pending> pending_;
};

} // namespace ptlens::flow
