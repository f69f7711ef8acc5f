// One piece of trace to branches by libipt's instruction decoder, which follows every instruction:
// slow, and shares nothing with our decoder but the code image and the switch records. It begins at
// a PSB, and after an error waits for the next.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/decode/decode_context.hpp"
#include "flow/packets/packet_stream.hpp"
#include "flow/packets/trace_piece.hpp"

#include <intel-pt.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace ptlens::flow {

class ReferenceDecoder {
public:
  struct Event {
    enum class Kind {
      synchronised, // decoding begins at the PSB at `offset`
      branch,
      unfinished, // where the instruction at branch.from went, libipt does not tell
      lost,       // libipt cannot go on, for `error`
    };
    Kind kind = Kind::branch;
    std::uint64_t offset = 0; // in the piece, where libipt is in the trace
    Branch branch;            // without time; an indirect jump is a `jump`
    std::string error;
  };

  // The context and the buffer must outlive the decoder.
  ReferenceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer,
                   const TracePiece& piece);

  // Nothing at the end of the piece.
  std::optional<Event> next();

private:
  struct Free {
    void operator()(pt_insn_decoder* decoder) const { pt_insn_free_decoder(decoder); }
  };

  void synchronise();
  void step();
  void handle(const pt_event& event);
  void lose(int status);
  void adopt_owner();
  // The last instruction went on at `next`.
  void follow(std::uint64_t next);
  void leave_unfinished();
  void emit(BranchKind kind, std::uint64_t from, std::uint64_t to);
  // Tracing begins at `address`, unless it has begun.
  void begin(std::uint64_t address);
  [[nodiscard]] std::uint64_t offset() const;

  DecodeContext* context_;
  const perfdata::AuxBuffer* buffer_;
  PieceBytes bytes_;
  PacketStream packets_;
  std::unique_ptr<pt_insn_decoder, Free> decoder_;
  std::unique_ptr<pt_image, void (*)(pt_image*)> nothing_; // the code of those not recorded
  std::deque<Event> events_;
  pt_insn last_{}; // the last instruction, size 0 where none is waiting
  int status_ = 0;
  bool synchronised_ = false;
  bool on_ = false;
  std::uint64_t enabled_at_ = 0;
  bool ended_ = false;
};

} // namespace ptlens::flow
