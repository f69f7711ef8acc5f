// One stretch of one AUX buffer to runs of branches, by libipt's block decoder. The stretch is
// unbroken: the buffer was not truncated inside it.
//
// libipt can begin at a PSB only, and gives up at code that it does not have until the next one.
// perf goes on at the next packet that names an address, and loses less. So do we: a packet cursor
// finds that packet, and a walker follows the code from there to the next PSB. Return addresses
// from before a gap are forgotten: what was missing may have returned to them.
#pragma once

#include "flow/branch.hpp"
#include "flow/decode_context.hpp"
#include "flow/packet_cursor.hpp"
#include "flow/packet_walker.hpp"
#include "flow/run_builder.hpp"
#include "flow/trace_piece.hpp"

#include <intel-pt.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::flow {

class PieceDecoder {
public:
  // The context and the buffer must outlive the decoder.
  PieceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer, const TracePiece& piece);

  // The next run: branches of one thread, some thousands, broken where another CPU may have run the
  // thread in between. Nothing at the end.
  std::optional<Run> next();

  // Adds what this piece saw.
  void summarise(DecodeSummary& summary) const;
  // How well the branches' times are known: widths of their intervals, ns.
  [[nodiscard]] const std::vector<std::uint64_t>& widths() const { return run_.widths(); }

private:
  struct Free {
    void operator()(pt_block_decoder* decoder) const { pt_blk_free_decoder(decoder); }
  };
  enum class State { seeking, running, walking, ended };

  void seek();
  void step();
  void handle(const pt_event& event);
  void fail(int status, const pt_block& block);
  void accept(const pt_block& block);
  // The block that ends with the pending instruction went on at `next`.
  void finish_block(std::uint64_t next);
  void finish_decided_block();
  void leave(std::uint64_t to);
  void trace_on(std::uint64_t address);
  void gap(GapReason reason, std::uint64_t address);
  // A branch of the last decision; one without a decision of its own.
  void emit(BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size);
  void emit_between(BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size);
  bool begin_at_psb(std::uint64_t offset);
  void begin_at(std::uint64_t address);
  void walk();
  [[nodiscard]] bool outside(std::uint64_t address) const;
  bool owned_from(std::uint64_t tsc);
  void read_packets();
  void decide_now();
  void decide_event();
  bool decide_end(const Instruction& last); // false: no packet decides it
  [[nodiscard]] std::optional<std::uint64_t> decided_next(std::uint64_t address,
                                                          const Instruction& last);
  [[nodiscard]] std::uint64_t decoder_offset() const;

  DecodeContext* context_;
  const perfdata::AuxBuffer* buffer_;
  PieceBytes bytes_;
  pt_config config_;
  std::optional<PacketCursor> cursor_;
  std::unique_ptr<pt_block_decoder, Free> decoder_;
  int status_ = 0;
  State state_ = State::seeking;
  bool truncated_;
  bool synchronised_ = false; // the cursor has passed a PSB: its addresses can be trusted
  bool after_overflow_ = false;
  bool in_gap_ = false;
  bool tracing_ = false;               // the last branch was not off or gap
  std::optional<PacketWalker> walker_; // while walking
  ReturnStack returns_;                // of the calls since the last gap, or seen by the walker

  Running owner_;
  CodeImage* image_ = nullptr;
  std::uint64_t used_packet_ = 0; // end of the packet that the last decision came from
  std::uint8_t used_bits_ = 0;    // of it
  struct Pending {                // the last instruction of a block
    std::uint64_t address = 0;
    Instruction instruction;
    std::optional<std::uint64_t> next; // where it goes to, where a packet decides that
  };
  std::optional<Pending> pending_;
  std::uint64_t last_address_ = 0;
  RunBuilder run_;

  std::uint64_t instructions_ = 0;
  std::uint64_t decode_errors_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t unowned_bytes_ = 0;
};

} // namespace ptlens::flow
