// Statistics of a whole decode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::flow {

struct DecodeSummary {
  std::uint64_t instructions = 0;
  std::uint64_t decode_errors = 0; // contradictions: bad_trace and bad_instruction
  std::uint64_t gaps = 0;          // of every kind
  // Bytes of control flow from times when the switch records show an idle CPU: the thread that
  // they belong to is not known.
  std::uint64_t unowned_bytes = 0;
  // The number of times that tracing went on between two timing packets between which another
  // thread came to the CPU. The thread that ran at the first packet is taken.
  std::uint64_t uncertain_owners = 0;
  // Segments whose own decoder's result was used, and segments that the decoder of the previous
  // segment had to decode again because it arrived in another state.
  std::uint64_t segments = 0;
  std::uint64_t segments_again = 0;
  bool has_time = false; // the trace has a timing packet
  // The time interval of nineteen of twenty branches is at most this long, ns; 0 without timing.
  std::uint64_t uncertainty_ns = 0;
  std::vector<std::string> warnings; // one line each

  // Adds the counts of another section of the trace.
  void add(const DecodeSummary& section) {
    instructions += section.instructions;
    decode_errors += section.decode_errors;
    gaps += section.gaps;
    unowned_bytes += section.unowned_bytes;
    uncertain_owners += section.uncertain_owners;
    segments += section.segments;
    segments_again += section.segments_again;
    has_time = has_time || section.has_time;
  }
};

} // namespace ptlens::flow
