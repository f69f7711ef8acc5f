// One stretch of one AUX buffer to runs of branches. The stretch is unbroken: the buffer was not
// truncated inside it.
//
// Decoding begins where a packet names an address: at a PSB+, where tracing is switched on, and
// after a gap at the next packet that does, as perf does it, and does not wait for the next PSB.
// Return addresses from before a gap are forgotten: what was missing may have returned to them.
#pragma once

#include "flow/branch.hpp"
#include "flow/decode_context.hpp"
#include "flow/packet_stream.hpp"
#include "flow/packet_walker.hpp"
#include "flow/return_stack.hpp"
#include "flow/run_builder.hpp"
#include "flow/trace_piece.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ptlens::flow {

enum class Decoder : std::uint8_t {
  graph,  // PieceDecoder itself
  libipt, // LibiptDecoder
};

class PieceDecoder {
public:
  [[nodiscard]] static std::unique_ptr<PieceDecoder> make(Decoder decoder, DecodeContext& context,
                                                          const perfdata::AuxBuffer& buffer,
                                                          const TracePiece& piece);

  // The context and the buffer must outlive the decoder.
  PieceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer, const TracePiece& piece);
  PieceDecoder(const PieceDecoder&) = delete;
  PieceDecoder& operator=(const PieceDecoder&) = delete;
  PieceDecoder(PieceDecoder&&) = delete;
  PieceDecoder& operator=(PieceDecoder&&) = delete;
  virtual ~PieceDecoder() = default;

  // The next run: branches of one thread, some thousands, broken where another CPU may have run the
  // thread in between. Nothing at the end.
  std::optional<Run> next();

  // Adds what this piece saw.
  void summarise(DecodeSummary& summary) const;
  // How wide the intervals of its branches are.
  [[nodiscard]] const WidthCounts& widths() const { return run_.widths(); }

protected:
  enum class State { seeking, walking, elsewhere, ended };

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
  PieceBytes bytes_;
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

  bool truncated_;
  bool synchronised_ = false; // a PSB was passed: addresses can be trusted
  PacketWalker walker_;
  std::uint64_t decode_errors_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t unowned_bytes_ = 0;
  std::uint64_t uncertain_owners_ = 0;
};

} // namespace ptlens::flow
