// One stretch of one AUX buffer to runs of branches. The stretch is unbroken: the buffer was not
// truncated inside it.
//
// Decoding begins where a packet names an address: at a PSB+, where tracing is switched on, and
// after a gap at the next packet that does, as perf does it, and does not wait for the next PSB.
// Return addresses from before a gap are forgotten: what was missing may have returned to them.
//
// A decoder may begin at a PSB in the middle and pause at a later one, so that several decode one
// piece at the same time: what one pauses with and the next one begins with tells whether the two
// say together what one alone would have said.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/branches/run.hpp"
#include "flow/branches/run_builder.hpp"
#include "flow/decode/decode_context.hpp"
#include "flow/packets/packet_stream.hpp"
#include "flow/packets/trace_piece.hpp"
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
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max(); // pause at a PSB there or behind
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

  // The next run: branches of one thread, some thousands, broken where another CPU may have run the
  // thread in between. Nothing at the end, or at a pause.
  std::optional<Run> next();

  // Offset of the PSB at which the decoder pauses; nothing while it does not.
  [[nodiscard]] std::optional<std::uint64_t> paused_at() const {
    return state_ == State::paused ? std::optional(paused_at_) : std::nullopt;
  }
  // To the next pause, in a context like the one so far.
  void go_on(DecodeContext& context, std::uint64_t end);

  // Decodes the PSB+ that it begins with. To be called before next().
  void prime();
  // `next` began at the PSB where this pauses, and was primed at least: what it tells is what this
  // would have told.
  [[nodiscard]] bool leads_to(const PieceDecoder& next) const;
  // It does, from `before`. True when its first branch, `on`, is to be left out: tracing went on.
  [[nodiscard]] bool follow(const PieceDecoder& before);
  // The branch that is told if a break is the first that is told from here on.
  [[nodiscard]] std::optional<Branch> held() const { return run_.held(); }
  // How far it has come in the piece.
  [[nodiscard]] std::uint64_t offset() const { return packets_.offset(); }

  // Adds what this piece saw.
  void summarise(DecodeSummary& summary) const;
  // How wide the intervals of its branches are.
  [[nodiscard]] const UncertaintyCounts& widths() const { return run_.widths(); }

protected:
  enum class State { seeking, walking, elsewhere, paused, ended };

  // Decoding can go on at a PSB+ that ends here and states the address; `anew`: it did not come
  // there by itself. False when it cannot.
  virtual bool synchronise(std::uint64_t psb_offset, std::uint64_t address, bool anew);
  // State::elsewhere: one more step of a decoder built on this one.
  virtual void step() {}
  // Before the end: what is known already.
  virtual void finish() {}
  // A packet was passed while seeking.
  virtual void passed(const Packet& packet) { static_cast<void>(packet); }

  void begin_at(std::uint64_t address, const std::optional<TimeInterval>& when);
  void trace_on(std::uint64_t address);
  void gap(GapReason reason, std::uint64_t address);
  void decide_now();
  // Who runs from then on; true when its code was recorded, which is then the one of `code_ns`.
  bool owned_from(std::uint64_t time_ns, std::uint64_t code_ns);
  [[nodiscard]] bool outside(std::uint64_t address) const;

  DecodeContext* context_;
  const perfdata::AuxBuffer* buffer_;
  PacketStream packets_;
  RunBuilder run_;
  ReturnStack returns_; // of the calls since the last gap or PSB
  State state_ = State::seeking;
  bool after_overflow_ = false;
  bool in_gap_ = false;
  bool tracing_ = false; // the last branch was not off or gap
  Running owner_;
  CodeGraph* graph_ = nullptr;
  std::uint64_t last_address_ = 0;
  std::uint64_t instructions_ = 0;

private:
  void seek();
  [[nodiscard]] bool begins_now();
  void walk();

  void pause(State state, std::uint64_t psb_offset);
  void note_entry(bool begun);

  bool truncated_;
  bool synchronised_ = false; // a PSB was passed: addresses can be trusted
  PacketWalker walker_;
  Stretch stretch_;
  std::uint64_t paused_at_ = 0;
  State paused_ = State::seeking; // what it was at
  std::uint64_t code_ns_ = 0;     // graph_ is of the code of that time
  // Of the PSB+ that it began with.
  struct Entry {
    bool passed = false;
    bool begun = false; // decoding, at its address
    bool timed = false;
    std::uint64_t time_ns = 0;
    Running owner;
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
