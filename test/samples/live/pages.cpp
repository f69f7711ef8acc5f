// Like a database server: 16 threads whose function look_up locks a mutex, as does almost
// everything else that they do. The mutexes are locked and unlocked 100 times as often as look_up
// is called.
//
//   --threads N   (16)
//   --calls N     of look_up, in each thread; 0: until the end
#include "program.hpp"

#include <array>
#include <latch>
#include <pthread.h>
#include <thread>

namespace {

struct Page {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::array<std::uint64_t, 32> slots{};
};

constexpr std::uint64_t mutexes_of_call = 100;
constexpr std::uint64_t mixer = 0x9e3779b97f4a7c15ULL;
std::array<Page, 64> pages;

struct Worker {
  truth::Latencies latencies;
  truth::Timeline timeline;
};

} // namespace

// Changes one page under its lock: not called by look_up.
extern "C" OWN_FUNCTION std::uint64_t touch_page(std::uint64_t key) {
  Page& page = pages[key % pages.size()];
  pthread_mutex_lock(&page.lock);
  for (std::uint64_t& slot : page.slots) {
    slot = (slot ^ key) * mixer;
  }
  key ^= page.slots[key % page.slots.size()];
  pthread_mutex_unlock(&page.lock);
  for (int turn = 0; turn < 1'600; ++turn) { // what it does with the page
    key = (key ^ (key >> 29)) * mixer;
  }
  return key;
}

// Reads one page under its lock. The function to measure.
extern "C" OWN_FUNCTION std::uint64_t look_up(std::uint64_t key) {
  Page& page = pages[key % pages.size()];
  pthread_mutex_lock(&page.lock);
  std::uint64_t sum = key;
  for (const std::uint64_t slot : page.slots) {
    sum = (sum ^ slot) * mixer;
  }
  pthread_mutex_unlock(&page.lock);
  for (int turn = 0; turn < 4'000; ++turn) {
    sum = (sum ^ (sum >> 29)) * mixer;
  }
  return sum;
}

int main(int count, char** words) {
  double threads = 16;
  double calls = 0;
  truth::Program program(count, words, {{"--threads", &threads}, {"--calls", &calls}});
  const auto most = static_cast<std::uint64_t>(calls);
  const auto size = static_cast<std::size_t>(threads);
  std::vector<Worker> workers(size, {{}, truth::Timeline(program.ticks_per_ns())});
  std::latch gate(1);
  std::vector<std::jthread> running;
  std::uint64_t seed = 0;
  for (Worker& worker : workers) {
    running.emplace_back([&worker, &program, &gate, most, key = ++seed]() mutable {
      gate.wait();
      for (std::uint64_t number = 1; most == 0 || number <= most; ++number) {
        for (std::uint64_t turn = 1; turn < mutexes_of_call; ++turn) {
          key = touch_page(key);
        }
        const std::uint64_t begin = truth::ticks();
        key = look_up(key);
        const std::uint64_t now = truth::ticks();
        worker.latencies.add(now - begin);
        worker.timeline.add(now, number);
        if (program.ends(now)) {
          break;
        }
      }
    });
  }
  program.start();
  gate.count_down();
  running.clear();
  truth::Latencies all;
  std::vector<const truth::Timeline*> timelines;
  for (const Worker& worker : workers) {
    all.add(worker.latencies);
    timelines.push_back(&worker.timeline);
  }
  return program.finish({{"look_up", &all}}, timelines);
}
