// The state is shared with the thread, which is detached.
#include "base/idle_thread.hpp"

#include <condition_variable>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <utility>

namespace ptlens {
namespace {

std::chrono::nanoseconds time_of(clockid_t clock) {
  timespec time{};
  return ::clock_gettime(clock, &time) == 0
             ? std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)
             : std::chrono::nanoseconds(0);
}

} // namespace

struct IdleThread::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  pthread_t thread{}; // valid until `ended`
  std::chrono::nanoseconds cpu_time{0};
};

IdleThread::IdleThread(std::function<void()> work) : state_(std::make_shared<State>()) {
  const std::lock_guard lock(state_->mutex); // until the thread has its priority
  std::thread thread([state = state_, work = std::move(work)]() mutable {
    {
      const std::lock_guard begun(state->mutex);
    }
    work();
    work = nullptr;
    const std::lock_guard lock(state->mutex);
    state->cpu_time = time_of(CLOCK_THREAD_CPUTIME_ID);
    state->ended = true;
    state->changed.notify_all();
  });
  state_->thread = thread.native_handle();
  const sched_param none{};
  ::pthread_setschedparam(state_->thread, SCHED_IDLE, &none);
  thread.detach();
}

IdleThread::~IdleThread() = default;

bool IdleThread::finish(std::chrono::milliseconds longest) {
  std::unique_lock lock(state_->mutex);
  const auto has_ended = [this] { return state_->ended; };
  if (has_ended()) {
    return true;
  }
  const sched_param none{};
  if (::pthread_setschedparam(state_->thread, SCHED_OTHER, &none) == 0) {
    state_->changed.wait(lock, has_ended);
    return true;
  }
  return state_->changed.wait_for(lock, longest, has_ended);
}

std::chrono::nanoseconds IdleThread::cpu_time() const {
  const std::lock_guard lock(state_->mutex);
  clockid_t clock{};
  return state_->ended || ::pthread_getcpuclockid(state_->thread, &clock) != 0 ? state_->cpu_time
                                                                               : time_of(clock);
}

Pace::Pace()
    : last_(std::chrono::steady_clock::now()), last_cpu_time_(time_of(CLOCK_THREAD_CPUTIME_ID)) {}

void Pace::give_way(const std::atomic<bool>& stopped) {
  constexpr int sleeps = 9; // as long as the work: it then has a tenth of a processor at most
  constexpr std::chrono::milliseconds slice{10};
  constexpr double alone = 0.8;
  const auto work = time_of(CLOCK_THREAD_CPUTIME_ID) - last_cpu_time_;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - last_;
  if (std::chrono::duration<double>(work) < alone * passed) {
    const auto until = std::chrono::steady_clock::now() + sleeps * work;
    while (!stopped && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(slice);
    }
  }
  last_ = std::chrono::steady_clock::now();
  last_cpu_time_ = time_of(CLOCK_THREAD_CPUTIME_ID);
}

} // namespace ptlens
