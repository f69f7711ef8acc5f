// Decodes one piece of an AUX buffer to runs of branches. The buffer was not truncated inside the
// piece.
//
// Decoding begins where a packet names an address: at a PSB+, where tracing is switched on, and
// after a gap at the next packet that names one, as in perf, without waiting for the next PSB.
// Return addresses from before a gap are dropped, because the missing code may have returned to
// them.
//
// A decoder may begin at a PSB in the middle and pause at a later one, so that several decoders can
// decode one piece at the same time. The state in which a decoder pauses and the state in which the
// next one begins determine whether the two together give the result of a single decoder.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/decode/decode_context.hpp"
#include "flow/decode/decode_summary.hpp"
#include "flow/packets/packet_stream.hpp"
#include "flow/packets/trace_piece.hpp"
#include "flow/runs/run.hpp"
#include "flow/runs/run_builder.hpp"
#include "flow/walk/packet_walker.hpp"
#include "flow/walk/return_stack.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace ptlens::flow {

class PieceDecoder {
public:
  struct Stretch {                                                 // offsets in the piece
    std::uint64_t begin = 0;                                       // 0, or of a PSB
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max(); // pause at a PSB there or later
  };

  // Context, buffer and piece must outlive the decoder.
  PieceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer, const TracePiece& piece,
               Stretch stretch);
  PieceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer, const TracePiece& piece)
      : PieceDecoder(context, buffer, piece, Stretch{}) {}
  PieceDecoder(const PieceDecoder&) = delete;
  PieceDecoder& operator=(const PieceDecoder&) = delete;
  PieceDecoder(PieceDecoder&&) = delete;
  PieceDecoder& operator=(PieceDecoder&&) = delete;
  virtual ~PieceDecoder() = default;

  // Returns the next run: some thousand branches of one thread at most. A run ends where another
  // CPU may have run the thread in between. Returns nullopt at the end and at a pause.
  std::optional<Run> next();

  // Returns the offset of the PSB at which the decoder pauses; nullopt while it does not pause.
  [[nodiscard]] std::optional<std::uint64_t> paused_at() const {
    return state_ == State::paused ? std::optional(paused_at_) : std::nullopt;
  }
  // Continues to the next pause, with a context of the same recording.
  void go_on(DecodeContext& context, std::uint64_t end);

  // Decodes the PSB+ at the beginning. To be called before next().
  void prime();
  // Returns true where `next`, which began at the PSB where this decoder pauses and is primed,
  // gives the result that this decoder would have given.
  [[nodiscard]] bool leads_to(const PieceDecoder& next) const;
  // Continues from `before`, which leads to this decoder. Returns true where the first branch,
  // `on`, is to be left out because tracing was on already.
  [[nodiscard]] bool follow(const PieceDecoder& before);
  // Returns the branch that is emitted only if the next branch is a break.
  [[nodiscard]] std::optional<Branch> held() const { return run_.held(); }
  // Returns the offset in the piece up to which packets were read.
  [[nodiscard]] std::uint64_t offset() const { return packets_.offset(); }

  // Returns the offset in the piece up to which the result depends on its bytes.
  [[nodiscard]] std::uint64_t read_until() const { return packets_.read_until(); }

  // Adds the statistics of this piece.
  void summarise(DecodeSummary& summary) const;
  // The counts of the time intervals of branches.
  [[nodiscard]] const UncertaintyCounts& intervals() const { return run_.intervals(); }

protected:
  enum class State { seeking, walking, elsewhere, paused, ended };

  // Begins or continues at a PSB+ that ends here and states the address; `begins`: the decoder did
  // not come there by itself. Returns false where decoding cannot continue there.
  virtual bool synchronise(std::uint64_t psb_offset, std::uint64_t address, bool begins);
  // In State::elsewhere: does one step of a derived decoder.
  virtual void step() {}
  // Emits what is known before the end.
  virtual void finish() {}
  // Takes note of a packet that was passed while seeking.
  virtual void passed(const Packet& packet) { static_cast<void>(packet); }

  void begin_at(std::uint64_t address, const std::optional<TimeInterval>& when);
  void trace_on(std::uint64_t address);
  void gap(GapReason reason, std::uint64_t address);
  void decide_now();
  // Finds the thread that runs from then on. Returns true where its code was recorded; the decoder
  // then uses the code of `code_ns`.
  bool owned_from(std::uint64_t time_ns, std::uint64_t code_ns);
  [[nodiscard]] bool outside(std::uint64_t address) const;

  DecodeContext* context_;
  const perfdata::AuxBuffer* buffer_;
  PacketStream packets_;
  RunBuilder run_;
  ReturnStack returns_; // return addresses of the calls since the last gap or PSB
  State state_ = State::seeking;
  bool after_overflow_ = false;
  bool in_gap_ = false;
  bool tracing_ = false; // the last branch was neither `off` nor a gap
  perfdata::Running owner_;
  CodeGraph* graph_ = nullptr; // null where the code of the owner was not recorded
  BranchConsumer* consumer_ = nullptr;
  std::uint64_t last_address_ = 0;
  std::uint64_t instructions_ = 0;

private:
  void seek();
  [[nodiscard]] bool begins_now();
  void walk();

  void pause(State state, std::uint64_t psb_offset);
  void set_code(std::uint64_t code_ns);
  void note_entry(bool begun);

  bool truncated_;
  bool synchronised_ = false; // a PSB was passed: addresses can be trusted
  PacketWalker walker_;
  Stretch stretch_;
  std::uint64_t paused_at_ = 0;
  State paused_ = State::seeking; // the state before the pause
  std::uint64_t code_ns_ = 0;     // graph_ is the code of that time
  struct Entry {                  // what the PSB+ at the beginning led to
    bool passed = false;
    bool begun = false; // decoding began at its address
    bool timed = false;
    std::uint64_t time_ns = 0;
    perfdata::Running owner;
    std::uint64_t code = 0; // serial
    std::uint64_t uncertain_owners = 0;
  };
  Entry entry_;
  std::uint64_t decode_errors_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t unowned_bytes_ = 0;
  std::uint64_t uncertain_owners_ = 0;
};

} // namespace ptlens::flow
