// Finds places by address and follows the branches of one thread through them.
#include "stacks/threads/inlined_calls.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace ptlens::stacks {

namespace {

constexpr std::size_t most_memberships = std::size_t{1} << 22U; // of places in segments

bool holds(const std::vector<symbols::AddressRange>& ranges, std::uint64_t address) {
  return std::ranges::any_of(ranges, [address](const symbols::AddressRange& range) {
    return range.low <= address && address < range.high;
  });
}

// The first segment that ends above the address.
template <class Segments>
auto segment_from(const Segments& segments, std::uint64_t address) {
  return std::ranges::upper_bound(segments, address, {},
                                  [](const auto& segment) { return segment.high; });
}

bool has(const std::vector<std::uint32_t>& places, std::uint32_t place) {
  return std::ranges::find(places, place) != places.end();
}

} // namespace

CountedPlaces::CountedPlaces(std::vector<CountedPlace> places)
    : places_(std::move(places)), countable_(places_.size(), 1) {
  for (CountedPlace& place : places_) {
    if (!holds(place.ranges, place.entry)) {
      place.ranges.insert(place.ranges.begin(), {.low = place.entry, .high = place.entry + 1});
    }
  }
}

void CountedPlaces::add_segments(const symbols::MappedCode& code, std::vector<Segment>& segments) {
  std::set<std::uint64_t> cuts; // ELF addresses
  const auto is_mapped = [&code](std::uint64_t address) {
    return address + code.bias >= code.start && address + code.bias < code.end;
  };
  for (const CountedPlace& place : places_) {
    if (place.binary == code.binary.get() && is_mapped(place.entry)) {
      cuts.insert(place.entry);
      for (const symbols::AddressRange& range : place.ranges) {
        cuts.insert({range.low, range.high});
      }
    }
  }
  std::map<std::uint64_t, Segment> cut;
  for (auto at = cuts.begin(); at != cuts.end() && std::next(at) != cuts.end(); ++at) {
    cut[*at] = {.low = *at + code.bias,
                .high = *std::next(at) + code.bias,
                .bias = code.bias,
                .places = {}};
  }
  std::size_t memberships = 0;
  for (std::uint32_t index = 0; index < places_.size(); ++index) {
    const CountedPlace& place = places_[index];
    if (place.binary != code.binary.get() || !is_mapped(place.entry)) {
      continue;
    }
    for (const symbols::AddressRange& range : place.ranges) {
      for (auto at = cut.find(range.low); at != cut.end() && at->first < range.high; ++at) {
        if (has(at->second.places, index)) {
          continue;
        }
        if (++memberships > most_memberships) {
          set_not_countable(index);
          break;
        }
        at->second.places.push_back(index);
      }
    }
  }
  for (auto& [low, segment] : cut) {
    if (!segment.places.empty()) {
      std::ranges::stable_sort(segment.places, {},
                               [this](std::uint32_t place) { return places_[place].depth; });
      segments.push_back(std::move(segment));
    }
  }
}

const std::vector<CountedPlaces::Segment>&
CountedPlaces::in(const symbols::AddressSpaceVersion& space) {
  const auto [entry, added] = by_space_.try_emplace(space.serial);
  if (added) {
    for (const symbols::MappedCode& code : space.code) {
      add_segments(code, entry->second);
    }
    std::ranges::sort(entry->second, {}, &Segment::low);
  }
  return entry->second;
}

std::uint32_t InlinedCalls::EstimatedTime::uncertainty() const {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      std::max(at - earliest, latest - at), std::numeric_limits<std::uint32_t>::max()));
}

InlinedCalls::EstimatedTime InlinedCalls::time_of(const flow::Branch& branch) {
  const std::uint64_t at = branch.time_ns;
  return {.earliest = at - std::min<std::uint64_t>(at, branch.uncertainty_ns),
          .latest = at + branch.uncertainty_ns,
          .at = at};
}

// Returns a time from `one` to `other`, which is no earlier: the middle of the possible interval,
// but not outside the times shown for the two, so that the times shown stay in order.
InlinedCalls::EstimatedTime InlinedCalls::between(const EstimatedTime& one,
                                                  const EstimatedTime& other) {
  EstimatedTime time{.earliest = std::min(one.earliest, other.earliest),
                     .latest = std::max(one.latest, other.latest)};
  time.at = std::clamp(time.earliest + (time.latest - time.earliest) / 2, one.at,
                       std::max(one.at, other.at));
  return time;
}

InlinedCalls::Frame* InlinedCalls::find(OpenCallId call) {
  if (frames_.empty()) {
    return nullptr;
  }
  const auto found = frames_.find(call);
  return found == frames_.end() ? nullptr : &found->second;
}

// Returns true for calls whose start was not traced, or that have a gap inside.
bool InlinedCalls::has_unknown_past(OpenCallId call) {
  return index_of(calls().order(call)) < opened_at_gap_ || calls().site(call) == SiteId::none;
}

void InlinedCalls::begin(OpenCallId call, std::uint32_t place, std::uint64_t bias, bool damaged,
                         const EstimatedTime& time) {
  Frame& frame = frames_[call];
  const CountedPlace& counted = places_->places()[place];
  const OpenCallId parent = frame.open.empty() ? call : frame.open.back().row;
  const std::uint32_t uncertainty = calls().uncertainty();
  calls().set_uncertainty(time.uncertainty());
  frame.open.push_back({.place = place,
                        .row = calls().open(counted.function, parent, counted.site, time.at, false),
                        .bias = bias,
                        .gaps = gaps_,
                        .damaged = damaged});
  calls().set_uncertainty(uncertainty);
  nest(call, frame);
}

// Makes calls and time of the call belong to the innermost of its executions.
void InlinedCalls::nest(OpenCallId call, const Frame& frame) {
  calls().nest(call, frame.open.empty() ? OpenCallId::none : frame.open.back().row);
}

void InlinedCalls::end(const Execution& execution, CallState state, const EstimatedTime& time) {
  const std::uint32_t uncertainty = calls().uncertainty();
  calls().set_uncertainty(time.uncertainty());
  const bool damaged = execution.damaged || execution.gaps != gaps_;
  calls().close(execution.row, time.at, damaged ? CallState::incomplete : state);
  calls().set_uncertainty(uncertainty);
}

// Takes straight code in [begin, end).
void InlinedCalls::run(OpenCallId call, std::uint64_t begin, std::uint64_t end,
                       const EstimatedTime& time) {
  if (begin >= end) {
    return;
  }
  for (auto segment = segment_from(*segments_, begin);
       segment != segments_->end() && segment->low < end; ++segment) {
    if (segment->low > begin) {
      cross(call, segment->low, &*segment, time);
    }
    const auto next = std::next(segment);
    if (segment->high < end && (next == segments_->end() || next->low != segment->high)) {
      cross(call, segment->high, nullptr, time);
    }
  }
  if (Frame* frame = find(call); frame != nullptr) {
    for (auto execution = frame->open.rbegin(); execution != frame->open.rend(); ++execution) {
      if (execution->left) {
        this->end(*execution, CallState::complete, time);
      }
    }
    std::erase_if(frame->open, [](const Execution& execution) { return execution.left; });
    nest(call, *frame);
  }
}

// Control falls through to `address`, where other places begin or end.
void InlinedCalls::cross(OpenCallId call, std::uint64_t address, const Segment* segment,
                         const EstimatedTime& time) {
  if (Frame* frame = find(call); frame != nullptr) {
    for (Execution& execution : frame->open) {
      const bool inside = segment != nullptr && has(segment->places, execution.place);
      const bool enters = inside && execution.left &&
                          places_->places()[execution.place].entry + execution.bias == address;
      execution.left = !inside || enters;
    }
    const auto again = [&](const Execution& execution) {
      return execution.left && segment != nullptr && has(segment->places, execution.place);
    };
    for (auto execution = frame->open.rbegin(); execution != frame->open.rend(); ++execution) {
      if (again(*execution)) {
        end(*execution, CallState::complete, time);
      }
    }
    std::erase_if(frame->open, again);
    nest(call, *frame);
  }
  if (segment == nullptr) {
    return;
  }
  for (const std::uint32_t place : segment->places) {
    const Frame* frame = find(call);
    if (frame != nullptr && std::ranges::any_of(frame->open, [place](const Execution& execution) {
          return execution.place == place;
        })) {
      continue;
    }
    if (places_->places()[place].entry + segment->bias == address) {
      begin(call, place, segment->bias, false, time);
    } else {
      places_->set_not_countable(place);
    }
  }
}

// Ends the executions of the frame that `address` is outside of. Returns false, and the executions
// continue, where control is in code that represents another function, such as a stub.
bool InlinedCalls::leave_or_stay(OpenCallId call, Frame& frame, std::uint64_t address,
                                 const Segment* segment, bool same_frame, CallState state,
                                 const EstimatedTime& time) {
  if (same_frame && !frame.open.empty() &&
      !holds(places_->places()[frame.open.front().place].home, address - frame.open.front().bias)) {
    return false;
  }
  const auto is_left = [segment](const Execution& execution) {
    return segment == nullptr || !has(segment->places, execution.place);
  };
  for (auto execution = frame.open.rbegin(); execution != frame.open.rend(); ++execution) {
    if (is_left(*execution)) {
      end(*execution, state, time);
    }
  }
  std::erase_if(frame.open, is_left);
  nest(call, frame);
  return true;
}

// A branch took control to the call, from the call `from`.
void InlinedCalls::arrive(OpenCallId from, OpenCallId call, const flow::Branch& branch,
                          const EstimatedTime& time) {
  const auto at = segment_from(*segments_, branch.to);
  const Segment* segment = at != segments_->end() && at->low <= branch.to ? &*at : nullptr;
  Frame* frame = find(call);
  bool excused = false;
  if (has_unknown_past(call)) {
    frame = frame == nullptr ? &frames_[call] : frame;
    excused = !frame->observed || frame->gaps != gaps_;
    frame->observed = true;
    frame->gaps = gaps_;
  }
  if (frame != nullptr) {
    const std::uint64_t resume = std::exchange(frame->resume, 0);
    if (frame->local && branch.to != resume) {
      frame->resume = resume;
      return;
    }
    frame->local = false;
    const bool astray = resume != 0 && branch.to != resume;
    if (!leave_or_stay(call, *frame, branch.to, segment, from == call && resume == 0,
                       astray ? CallState::unwound : CallState::complete, time)) {
      return;
    }
  }
  if (segment == nullptr) {
    return;
  }
  for (const std::uint32_t place : segment->places) {
    frame = find(call);
    if (frame != nullptr && std::ranges::any_of(frame->open, [place](const Execution& execution) {
          return execution.place == place;
        })) {
      continue;
    }
    if (places_->places()[place].entry + segment->bias == branch.to) {
      begin(call, place, segment->bias, false, time);
    } else if (excused) {
      begin(call, place, segment->bias, true, time);
    } else {
      places_->set_not_countable(place);
    }
  }
}

// Control leaves the call `from` for a while.
void InlinedCalls::note_departure(OpenCallId from, OpenCallId to, const flow::Branch& branch) {
  Frame* frame = find(from);
  if (frame == nullptr) {
    return;
  }
  const std::uint64_t behind = branch.address_behind();
  switch (branch.kind) {
  case flow::BranchKind::call:
    if (!reads_instruction_pointer(branch.to, behind)) {
      frame->resume = behind;
      frame->local = to == from;
    }
    break;
  case flow::BranchKind::syscall:
  case flow::BranchKind::off:
  case flow::BranchKind::interrupt:
    frame->resume = behind;
    break;
  default:
    break;
  }
}

// Ends the executions in the call. A call that began before it was traced is incomplete, but its
// return may show that an execution in it has ended.
void InlinedCalls::closing(OpenCallId call, std::uint64_t end_ns, CallState closed_as) {
  CallState state = closed_as;
  if (const auto found = frames_.find(call); found != frames_.end()) {
    if (state == CallState::incomplete && returning_ != OpenCallId::none &&
        (call == returning_ || completed_)) {
      state = CallState::complete;
    }
    const EstimatedTime time{.earliest = std::min(end_ns, now_.earliest),
                             .latest = std::max(end_ns, now_.latest),
                             .at = end_ns};
    for (auto execution = found->second.open.rbegin(); execution != found->second.open.rend();
         ++execution) {
      end(*execution, state, time);
    }
    frames_.erase(found);
  }
  if (call == returning_ && !returned_) {
    returned_ = true;
    completed_ = closed_as == CallState::complete;
  }
}

// Returns true where control is certain to be at the target of the branch.
bool InlinedCalls::goes_on(const flow::Branch& branch) {
  return branch.kind != flow::BranchKind::gap && branch.kind != flow::BranchKind::off &&
         branch.to != 0;
}

void InlinedCalls::take(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  if (space.serial != space_serial_) {
    space_serial_ = space.serial;
    segments_ = &places_->in(space);
  }
  now_ = time_of(branch);
  const OpenCallId from = current_call();
  if (from != left_in_ && from != OpenCallId::none && goes_on(last_branch_)) {
    arrive(left_in_, from, last_branch_, last_); // the stack that it went to is known now
  }
  const bool gap = branch.kind == flow::BranchKind::gap;
  if (position_ != 0 && from != OpenCallId::none && !gap) {
    run(from, position_, branch.address_behind(), between(last_, now_));
  }
  returning_ = branch.kind == flow::BranchKind::ret ? from : OpenCallId::none;
  returned_ = false;
  completed_ = false;
  CallBuilder::take(branch, space);
  const OpenCallId call = current_call();
  note_departure(from, call, branch);
  if (gap) {
    ++gaps_;
    opened_at_gap_ = calls().opened();
  }
  if (goes_on(branch) && call != OpenCallId::none && !undecided()) {
    arrive(from, call, branch, now_);
  }
  position_ = goes_on(branch) ? branch.to : 0;
  last_branch_ = branch;
  last_ = now_;
  left_in_ = call;
}

void InlinedCalls::exec(std::uint64_t time_ns) {
  now_ = {.earliest = time_ns, .latest = time_ns, .at = time_ns};
  returning_ = OpenCallId::none;
  CallBuilder::exec(time_ns);
  position_ = 0;
}

void InlinedCalls::finish(bool exited) {
  now_ = last_;
  returning_ = OpenCallId::none;
  CallBuilder::finish(exited);
}

std::vector<std::uint8_t> uncountable_executions(const CallTable& table,
                                                 const CountedPlaces& places) {
  std::set<std::pair<FunctionId, SiteId>> uncountable;
  for (std::uint32_t index = 0; index < places.places().size(); ++index) {
    if (!places.countable(index)) {
      uncountable.emplace(places.places()[index].function, places.places()[index].site);
    }
  }
  std::vector<std::uint8_t> rows(table.size(), 0);
  for (std::size_t row = 0; row < table.size() && !uncountable.empty(); ++row) {
    rows[row] = uncountable.contains({table.function[row], table.site[row]}) ? 1 : 0;
  }
  return rows;
}

} // namespace ptlens::stacks
