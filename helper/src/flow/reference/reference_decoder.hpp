// Decodes one piece of trace to branches with libipt's instruction decoder alone, for `ptlens
// verify`. It is slow, and shares nothing with our decoder but the code image and the switch
// records. It begins at a PSB, and waits for the next PSB after an error.
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
      unfinished, // libipt does not report where the instruction at branch.from went
      lost,       // libipt cannot continue; see `error`
    };
    Kind kind = Kind::branch;
    std::uint64_t offset = 0; // in the piece, up to which libipt has read
    Branch branch;            // without time; an indirect jump is a `jump`
    std::string error;
  };

  // The context and the buffer must outlive the decoder.
  ReferenceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer,
                   const TracePiece& piece);

  // Returns the next event, nullopt at the end of the piece.
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
  // Notes that the last instruction went on at `next`.
  void follow(std::uint64_t next);
  void leave_unfinished();
  void emit(BranchKind kind, std::uint64_t from, std::uint64_t to);
  // Notes that tracing begins at `address`, unless it has begun.
  void begin(std::uint64_t address);
  [[nodiscard]] std::uint64_t offset() const;

  DecodeContext* context_;
  const perfdata::AuxBuffer* buffer_;
  PieceBytes bytes_;
  PacketStream packets_;
  std::unique_ptr<pt_insn_decoder, Free> decoder_;
  std::unique_ptr<pt_image, void (*)(pt_image*)>
      nothing_; // for processes whose code was not recorded
  std::deque<Event> events_;
  pt_insn last_{}; // the last instruction, size 0 where no instruction waits
  int status_ = 0;
  bool synchronised_ = false;
  bool on_ = false;
  std::uint64_t enabled_at_ = 0;
  bool ended_ = false;
};

} // namespace ptlens::flow
