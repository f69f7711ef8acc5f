// The same by libipt's block decoder, from each PSB to the next gap. libipt tells blocks of code
// and events, no times: those come from the packets that it has used by then. It can begin at a PSB
// only, and gives up at code that it does not have; up to the next PSB the walker goes on.
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
    void operator()(pt_block_decoder* decoder) const { pt_blk_free_decoder(decoder); }
  };
  struct Pending { // the last instruction of a block
    std::uint64_t address = 0;
    Instruction instruction;
    std::optional<std::uint64_t> next; // where it goes to, where a packet decides that
  };

  bool synchronise(std::uint64_t psb_offset, std::uint64_t address, bool anew) override;
  void step() override;
  void finish() override;
  void passed(const Packet& packet) override;

  void handle(const pt_event& event);
  void fail(int status, const pt_block& block);
  void accept(const pt_block& block);
  // The block that ends with the pending instruction went on at `next`.
  void finish_block(std::uint64_t next);
  void finish_decided_block();
  void leave(std::uint64_t to);
  void emit(BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size); // decided
  void switch_on(std::uint64_t address);
  void read_packets();
  void advance_to(std::uint64_t offset);
  bool decide_end(const Instruction& last); // false: no packet decides it
  [[nodiscard]] std::optional<std::uint64_t> decided_next(std::uint64_t address,
                                                          const Instruction& last);
  [[nodiscard]] std::uint64_t decoder_offset() const;

  PieceBytes bytes_;
  std::unique_ptr<pt_block_decoder, Free> decoder_;
  int status_ = 0;
  Packet last_flow_;      // the last TNT, TIP, FUP or PSBEND passed
  Packet last_enabling_;  // the last TIP.PGE
  Packet last_disabling_; // the last TIP.PGD
  Packet last_decision_;  // the last TNT, or TIP that is not the target of an asynchronous event
  std::uint64_t used_packet_ = 0; // end of the packet that the last decision came from
  std::uint8_t used_bits_ = 0;    // of it
  std::optional<Pending> pending_;
};

} // namespace ptlens::flow
