// The kernel makes a sample of sched_switch just before the switch record: of a thread's samples up
// to the record, the last one belongs to it. Of the wakings until the thread runs again the first
// one ended the wait: later ones find the thread runnable. A waker on another CPU can record its
// waking while the thread is on its way out (try_to_wake_up() before it has the run queue's lock,
// kernel/sched/core.c), so that the waking comes just before the switch.
#include "waits/find_waits.hpp"

#include "perfdata/bytes/byte_reader.hpp"
#include "perfdata/read_samples.hpp"
#include "waits/samples.hpp"
#include "waits/user_stacks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptlens::waits {
namespace {

constexpr std::uint64_t same_waking_ns = 50'000; // two events record it one after the other
constexpr std::uint64_t way_out_ns = 20'000;     // of a waking before the switch that it undoes

struct SwitchOut {
  std::uint64_t time_ns = 0;
  bool runnable = false;
  bool dead = false;
  Reason reason = Reason::unknown;
  KernelFunctionId kernel = KernelFunctionId::none;
  StackId stack = StackId::none;
  std::int32_t next_tid = -1;
};

class Finder {
public:
  explicit Finder(const WaitSources& sources) : sources_(sources), stacks_(sources.spaces) {}

  Result<Waits> find(const Progress& progress) {
    if (auto read = perfdata::read_samples(sources_.recording, "reading waits", progress,
                                           [&](const perfdata::Sample& sample) { take(sample); });
        !read) {
      return std::unexpected(read.error());
    }
    name_threads();
    join();
    stacks_.finish(waits_);
    return std::move(waits_);
  }

private:
  void take(const perfdata::Sample& sample) {
    const perfdata::Attribute& attribute = sources_.recording.attributes()[sample.attribute];
    if (attribute.name == perfdata::switch_event) {
      waits_.recorded = true;
      take_switch(sample, attribute);
    } else if (attribute.name == perfdata::waking_event) {
      wakings_recorded_ = true;
      take_waking(sample, attribute);
    } else if (sources_.entry_events.contains(attribute.config)) {
      take_entry(sample);
    }
  }

  void take_entry(const perfdata::Sample& sample) {
    constexpr std::uint64_t before = 16; // common fields, instruction pointer
    perfdata::ByteReader reader(sample.raw);
    reader.skip(before);
    const auto stack_pointer = reader.read<std::uint64_t>();
    const auto return_address = reader.read<std::uint64_t>();
    if (!reader.failed()) {
      stacks_.add_entry(sample, stack_pointer, return_address);
    }
  }

  void take_switch(const perfdata::Sample& sample, const perfdata::Attribute& attribute) {
    const auto fields = switch_fields(sample.raw);
    if (!fields || fields->tid != sample.tid) {
      return;
    }
    waits_.thread_names.try_emplace(fields->tid, fields->name);
    waits_.thread_names.try_emplace(fields->next_tid, fields->next_name);
    if (is_of_others(sample.pid)) {
      return;
    }
    const std::vector<std::string_view> kernel = kernel_stack(sample.chain);
    SwitchOut out{.time_ns = sample.time_ns,
                  .runnable = fields->is_runnable(),
                  .dead = fields->is_dead(),
                  .reason = reason_of_kernel(kernel),
                  .stack = stacks_.stack_of(sample, attribute.registers),
                  .next_tid = fields->next_tid};
    const auto waiting = std::ranges::find_if_not(kernel, is_switching);
    if (waiting != kernel.end()) {
      out.kernel = kernel_function(*waiting);
    } else if (!sample.chain.empty() && sources_.kernel.empty()) {
      ++waits_.without_names;
    }
    outs_[sample.tid].push_back(out);
  }

  void take_waking(const perfdata::Sample& sample, const perfdata::Attribute& attribute) {
    const auto fields = waking_fields(sample.raw);
    if (!fields) {
      return;
    }
    Waker waker{.kind = Waker::Kind::thread,
                .tid = sample.tid,
                .other_pid = sample.pid,
                .time_ns = sample.time_ns};
    const bool is_idle = sample.tid == 0; // the idle thread runs for interrupts only
    const std::vector<std::string_view> kernel = kernel_stack(sample.chain);
    if (is_idle || (fields->in_interrupt && !is_sent_over_loopback(kernel))) {
      waker.kind = Waker::Kind::interrupt;
      waker.tid = -1;
      waker.other_pid = -1;
      waker.interrupt = interrupt_of_kernel(kernel);
    } else {
      waker.stack = stacks_.stack_of(sample, attribute.registers);
    }
    wakings_[fields->tid].push_back(waker);
  }

  [[nodiscard]] bool is_of_others(std::int32_t pid) const {
    return sources_.pid && *sources_.pid != pid;
  }

  std::vector<std::string_view> kernel_stack(std::span<const std::byte> chain) {
    std::vector<std::string_view> names;
    for (const std::uint64_t address : kernel_chain(chain)) {
      const auto [entry, added] = names_.try_emplace(address);
      if (added) {
        entry->second = sources_.kernel.at(address);
      }
      if (!entry->second.empty()) {
        names.push_back(entry->second);
      }
    }
    return names;
  }

  KernelFunctionId kernel_function(std::string_view name) {
    const auto [entry, added] =
        kernel_numbers_.try_emplace(name, waits_.kernel_functions.next_id());
    if (added) {
      waits_.kernel_functions.push_back(std::string(name));
    }
    return entry->second;
  }

  void name_threads() {
    for (const perfdata::ThreadName& name : sources_.recording.thread_names()) {
      waits_.thread_names[name.tid] = name.name;
      process_of_[name.tid] = name.pid;
    }
    for (const perfdata::Switch& record : sources_.recording.switches()) {
      if (record.tid > 0) {
        process_of_.try_emplace(record.tid, record.pid);
      }
      last_ns_ = std::max(last_ns_, record.time_ns);
    }
  }

  // Returns whether wakings by threads of other processes were recorded too: a second event
  // records those on all CPUs, or there are some.
  [[nodiscard]] bool has_wakings_of_others() const {
    if (std::ranges::count(sources_.recording.attributes(), perfdata::waking_event,
                           &perfdata::Attribute::name) > 1) {
      return true;
    }
    return std::ranges::any_of(wakings_, [&](const auto& each) {
      const auto process = process_of_.find(each.first);
      return process != process_of_.end() &&
             std::ranges::any_of(each.second, [&](const Waker& waker) {
               return waker.kind == Waker::Kind::thread && waker.other_pid != process->second;
             });
    });
  }

  void join() {
    const bool knows_others = has_wakings_of_others();
    for (const std::int32_t tid : sources_.switches.threads()) {
      const auto process = process_of_.find(tid);
      if (process != process_of_.end() && is_of_others(process->second)) {
        continue;
      }
      const std::vector<SwitchOut>& outs = outs_[tid];
      const std::vector<Waker>& wakings = wakings_[tid];
      auto out = outs.begin();
      auto waking = wakings.begin();
      std::uint64_t before = 0; // end of the last interval
      for (const perfdata::OffCpuInterval& interval : sources_.switches.intervals(tid)) {
        Wait wait{.tid = tid, .begin = interval.begin, .end = interval.end};
        wait.unfinished = interval.end == UINT64_MAX;
        const SwitchOut* known = nullptr;
        for (; out != outs.end() && out->time_ns <= interval.begin; ++out) {
          known = out->time_ns >= before ? &*out : nullptr;
        }
        if (wait.unfinished) {
          wait.end = std::max(last_ns_, interval.begin);
        }
        if (known != nullptr && known->dead) {
          break;
        }
        describe(wait, known, interval.preempted);
        const std::uint64_t from = known != nullptr ? known->time_ns : interval.begin;
        while (waking != wakings.end() && waking->time_ns < from) {
          ++waking;
        }
        if (wait.reason != Reason::preempted) {
          if (const auto ending = ending_of(waking, wakings, wait.end,
                                            std::max(before, from - std::min(from, way_out_ns)));
              ending != wakings.end()) {
            wait.waker = own_record(ending, wakings.end());
            if (process == process_of_.end() || wait.waker.other_pid == process->second) {
              wait.waker.other_pid = -1;
            }
          } else if (wakings_recorded_ && !knows_others && !wait.unfinished) {
            wait.waker.kind = Waker::Kind::outside;
          }
        }
        before = interval.end;
        waits_.all.push_back(wait);
      }
    }
  }

  // Returns the waking that ended a wait: `next`, the first after the switch, where it is not after
  // `end`; else the one before it where it is not before `earliest`.
  static std::vector<Waker>::const_iterator ending_of(std::vector<Waker>::const_iterator next,
                                                      const std::vector<Waker>& wakings,
                                                      std::uint64_t end, std::uint64_t earliest) {
    if (next != wakings.end() && next->time_ns <= end) {
      return next;
    }
    const bool is_racing = next != wakings.begin() && std::prev(next)->time_ns >= earliest;
    return is_racing ? std::prev(next) : wakings.end();
  }

  // A thread that has just begun is recorded by the event on all CPUs too, whose record is the
  // first then and has no stack of the user.
  static const Waker& own_record(std::vector<Waker>::const_iterator waking,
                                 std::vector<Waker>::const_iterator end) {
    const auto next = std::next(waking);
    return next != end && waking->kind == Waker::Kind::thread && waking->stack == StackId::none &&
                   next->tid == waking->tid && next->time_ns - waking->time_ns < same_waking_ns
               ? *next
               : *waking;
  }

  static void describe(Wait& wait, const SwitchOut* known, bool preempted) {
    if (known != nullptr) {
      wait.reason = known->reason;
      wait.stack = known->stack;
      wait.kernel = known->kernel;
      preempted = preempted || known->runnable;
      wait.next_tid = preempted ? known->next_tid : -1;
    }
    if (preempted) {
      wait.reason = Reason::preempted;
    }
  }

  const WaitSources& sources_;
  UserStacks stacks_;
  Waits waits_;
  bool wakings_recorded_ = false;
  std::uint64_t last_ns_ = 0;
  std::map<std::int32_t, std::vector<SwitchOut>> outs_;       // by thread, in order of time
  std::map<std::int32_t, std::vector<Waker>> wakings_;        // by the thread that was woken
  std::unordered_map<std::uint64_t, std::string_view> names_; // of the kernel, by address
  std::unordered_map<std::string_view, KernelFunctionId> kernel_numbers_;
  std::map<std::int32_t, std::int32_t> process_of_;
};

} // namespace

Result<Waits> find_waits(const WaitSources& sources, const Progress& progress) {
  return Finder(sources).find(progress);
}

} // namespace ptlens::waits
