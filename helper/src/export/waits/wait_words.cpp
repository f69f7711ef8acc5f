#include "export/waits/wait_words.hpp"

#include "export/text/units.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>

namespace ptlens::exporting {

using waits::LockKind;
using waits::Reason;
using waits::Waker;

std::string awaited_text(Reason reason, LockKind lock) {
  switch (reason) {
  case Reason::lock:
    switch (lock) {
    case LockKind::condition:
      return "a condition variable";
    case LockKind::rwlock:
      return "a reader-writer lock";
    case LockKind::semaphore:
      return "a semaphore";
    case LockKind::barrier:
      return "a barrier";
    case LockKind::thread_end:
      return "the end of a thread";
    default:
      return "a lock";
    }
  case Reason::sleep:
    return "a timer";
  case Reason::disk:
    return "the disk";
  case Reason::network:
    return "the network";
  case Reason::pipe:
    return "a pipe";
  case Reason::poll:
    return "events (poll)";
  case Reason::page_fault:
    return "a page";
  case Reason::process:
    return "a process";
  case Reason::signal:
    return "a signal";
  case Reason::preempted:
    return "a processor";
  case Reason::unknown:
    return "something unknown";
  }
  return "";
}

std::string place_text(const measure::SourcePlace& place) {
  if (place.function.empty()) {
    return "";
  }
  const std::string name = fmt::format("`{}`", printable(symbols::last_component(place.function)));
  return place.file.empty() || place.line == 0
             ? name
             : fmt::format("{} ({}:{})", name, printable(base_name(place.file)), place.line);
}

namespace {

// Returns "thread `a`", "process `b` (33)", "thread `a` of process `b` (33)", "4 processes `b`" or
// "threads `a` of 4 processes `b`".
std::string thread_text(const measure::WakerRow& waker) {
  if (waker.process.empty()) {
    return fmt::format("thread `{}`", printable(waker.thread));
  }
  const bool one = waker.processes < 2;
  const std::string process =
      one ? fmt::format("process `{}` ({})", printable(waker.process), waker.pid)
          : fmt::format("{} processes `{}`", waker.processes, printable(waker.process));
  return waker.process == waker.thread ? process
                                       : fmt::format("{} `{}` of {}", one ? "thread" : "threads",
                                                     printable(waker.thread), process);
}

} // namespace

std::string waker_text(const measure::WaitRow& row, const measure::WakerRow& waker) {
  switch (waker.kind) {
  case Waker::Kind::unknown:
    return "";
  case Waker::Kind::interrupt:
    return waker.interrupt == waits::Interrupt::other
               ? "woken by an interrupt"
               : fmt::format("woken by an interrupt ({})", waits::word(waker.interrupt));
  case Waker::Kind::outside:
    return row.reason == Reason::sleep ? "woken by a timer"
                                       : "woken by an interrupt or by another process";
  case Waker::Kind::thread:
    break;
  }
  const std::string thread = thread_text(waker);
  if (row.reason == Reason::preempted) {
    return fmt::format("the processor went to {}", thread);
  }
  const bool is_held =
      row.reason == Reason::lock && (row.lock == LockKind::mutex || row.lock == LockKind::rwlock);
  std::string text =
      fmt::format("{}{} by {}", waker.likely ? "likely " : "", is_held ? "held" : "woken", thread);
  if (const std::string place = place_text(waker.place); !place.empty()) {
    text += " in " + place;
  }
  return text;
}

} // namespace ptlens::exporting
