// A small order server: worker threads take orders, check them, price them, reserve stock and
// sometimes write the audit log. `npm start` and the tests measure it: it contains a known number
// of each event that makes call latency difficult to measure.
//
//   handle_order                     every order
//   └ accept_order                   passes the exception of a rejected order on
//     ├ validate_order               throws for each 20th order; handle_order catches
//     ├ price_order                  the hot function
//     │ ├ category_discount          recursion: order i walks 1 + i % 4 levels
//     │ └ add_tax                    a tail call: price_order jumps here
//     └ reserve_stock                one lock for all threads
//   └ write_audit                    each 100th order; sleeps 5 ms
//
// With --slow-every N, a clerk takes stock before every Nth order and holds the lock so long that
// the order waits for it: one of N calls is slow.
//
// Every function counts its calls. With --orders, the program prints the counts at the end.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// Keeps the function as in the source: not inlined, not cloned, and with all its calls.
#if defined(__clang__)
#define OWN_FUNCTION [[gnu::noinline]]
#else
#define OWN_FUNCTION [[gnu::noipa]]
#endif

namespace shop {

constexpr std::uint64_t reject_every = 20;
constexpr std::uint64_t audit_every = 100;
constexpr std::chrono::milliseconds audit_time{5};

struct Counts {
  std::uint64_t handle_order = 0;
  std::uint64_t accept_order = 0;
  std::uint64_t validate_order = 0;
  std::uint64_t price_order = 0;
  std::uint64_t category_discount = 0;
  std::uint64_t add_tax = 0;
  std::uint64_t reserve_stock = 0;
  std::uint64_t write_audit = 0;
  std::uint64_t rejected = 0;
};

constexpr std::array<std::pair<const char*, std::uint64_t Counts::*>, 9> count_names{{
    {"handle_order", &Counts::handle_order},
    {"accept_order", &Counts::accept_order},
    {"validate_order", &Counts::validate_order},
    {"price_order", &Counts::price_order},
    {"category_discount", &Counts::category_discount},
    {"add_tax", &Counts::add_tax},
    {"reserve_stock", &Counts::reserve_stock},
    {"write_audit", &Counts::write_audit},
    {"rejected", &Counts::rejected},
}};

thread_local Counts counts;

struct Line {
  std::uint32_t article = 0;
  std::uint32_t quantity = 0;
};

struct Order {
  std::uint64_t number = 0;
  std::vector<Line> lines;
};

struct Category {
  const Category* parent = nullptr;
  std::uint64_t discount_permille = 0;
};

constexpr Category everything{nullptr, 5};
constexpr Category books{&everything, 20};
constexpr Category fiction{&books, 10};
constexpr Category poetry{&fiction, 30};
constexpr std::array<const Category*, 4> categories{&everything, &books, &fiction, &poetry};

struct Stock {
  std::mutex lock;
  std::array<std::uint64_t, 64> on_shelf{};
};

Stock stock;

class RejectedOrder : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

OWN_FUNCTION void validate_order(const Order& order) {
  ++counts.validate_order;
  if (order.number % reject_every == 0) {
    throw RejectedOrder("order " + std::to_string(order.number) + " has no customer");
  }
}

OWN_FUNCTION std::uint64_t category_discount(const Category& category) {
  ++counts.category_discount;
  if (category.parent == nullptr) {
    return category.discount_permille;
  }
  return category.discount_permille + category_discount(*category.parent) / 2;
}

OWN_FUNCTION std::uint64_t add_tax(std::uint64_t net_cents) {
  ++counts.add_tax;
  return net_cents + net_cents * 19 / 100;
}

OWN_FUNCTION std::uint64_t price_order(const Order& order) {
  ++counts.price_order;
  const std::uint64_t discount = category_discount(*categories[order.number % categories.size()]);
  std::uint64_t net = 0;
  for (const Line& line : order.lines) {
    std::uint64_t price = 100 + line.article % 900;
    for (std::uint32_t item = 1; item <= line.quantity; ++item) {
      net += price;
      price -= price / (50 + item); // each further item is a little cheaper
    }
  }
  return add_tax(net - net * discount / 1000);
}

OWN_FUNCTION void reserve_stock(const Order& order) {
  ++counts.reserve_stock;
  const std::lock_guard<std::mutex> guard(stock.lock);
  for (const Line& line : order.lines) {
    std::uint64_t* fullest = std::max_element(stock.on_shelf.begin(), stock.on_shelf.end());
    *fullest = *fullest < line.quantity ? 1000 : *fullest - line.quantity;
  }
}

// Holds the lock for a while. Returns once it does.
OWN_FUNCTION std::jthread take_stock(std::chrono::milliseconds time) {
  std::latch held(1);
  std::jthread clerk([&held, time] {
    const std::lock_guard<std::mutex> guard(stock.lock);
    held.count_down();
    std::this_thread::sleep_for(time);
  });
  held.wait();
  return clerk;
}

OWN_FUNCTION std::uint64_t accept_order(const Order& order) {
  ++counts.accept_order;
  validate_order(order);
  const std::uint64_t price = price_order(order);
  reserve_stock(order);
  return price;
}

OWN_FUNCTION void write_audit() {
  ++counts.write_audit;
  std::this_thread::sleep_for(audit_time);
}

OWN_FUNCTION std::uint64_t handle_order(const Order& order) {
  ++counts.handle_order;
  std::uint64_t price = 0;
  try {
    price = accept_order(order);
  } catch (const RejectedOrder&) {
    ++counts.rejected;
  }
  if (order.number % audit_every == 0) {
    write_audit();
  }
  return price;
}

Order next_order(std::uint64_t number) {
  Order order{number, {}};
  for (std::uint32_t line = 0; line < 4 + number % 9; ++line) {
    order.lines.push_back({static_cast<std::uint32_t>(number * 31 + line * 7), 1 + line % 5});
  }
  return order;
}

struct Options {
  std::uint64_t orders = 0;      // per thread, 0: no limit
  std::uint64_t threads = 4;     // the main thread is one of them
  std::uint64_t seconds = 0;     // 0: no limit
  std::uint64_t rate = 2000;     // orders per second and thread, 0: as fast as it goes
  std::uint64_t slow_every = 0;  // takes stock at one order of that many, 0: never
  std::uint64_t stock_ms = 2000; // for how long the lock is then held
  std::uint64_t wait_at = 0;     // wait for a byte on stdin before that order, main thread alone
  bool wait = false;             // for a byte on stdin before the first order
};

void wait_for_byte() {
  if (std::getchar() == EOF) {
    std::fputs("order_server: nothing to wait for: stdin is closed\n", stderr);
    std::exit(1);
  }
}

// Takes orders until the limits are reached; returns the value of all of them, in cents.
std::uint64_t work(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::uint64_t cents = 0;
  for (std::uint64_t number = 1; options.orders == 0 || number <= options.orders; ++number) {
    if (number == options.wait_at && getpid() == gettid()) {
      std::printf("order_server: waits before order %llu\n",
                  static_cast<unsigned long long>(number));
      std::fflush(stdout);
      wait_for_byte();
    }
    std::jthread clerk;
    if (options.slow_every > 0 && (number + 1) % options.slow_every == 0) {
      clerk = take_stock(std::chrono::milliseconds(options.stock_ms));
    }
    cents += handle_order(next_order(number));
    if (options.seconds > 0 && Clock::now() - begin >= std::chrono::seconds(options.seconds)) {
      break;
    }
    if (options.rate > 0) {
      std::this_thread::sleep_until(
          begin + std::chrono::nanoseconds(number * 1'000'000'000 / options.rate));
    }
  }
  return cents;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int index = 1; index < argc; ++index) {
    const std::string_view name = argv[index];
    if (name == "--wait") {
      options.wait = true;
      continue;
    }
    std::uint64_t* value = name == "--orders"       ? &options.orders
                           : name == "--threads"    ? &options.threads
                           : name == "--seconds"    ? &options.seconds
                           : name == "--rate"       ? &options.rate
                           : name == "--slow-every" ? &options.slow_every
                           : name == "--stock-ms"   ? &options.stock_ms
                           : name == "--wait-at"    ? &options.wait_at
                                                    : nullptr;
    char* end = nullptr;
    if (value != nullptr && index + 1 < argc) {
      *value = std::strtoull(argv[++index], &end, 10);
    }
    if (end == nullptr || end == argv[index] || *end != '\0' || options.threads == 0) {
      std::fputs(
          "usage: order_server [--orders N] [--threads T] [--seconds S] [--rate R] [--wait]\n"
          "                    [--wait-at N] [--slow-every N] [--stock-ms T]\n",
          stderr);
      std::exit(2);
    }
  }
  return options;
}

} // namespace shop

int main(int argc, char** argv) {
  const shop::Options options = shop::parse(argc, argv);
  shop::Counts total;
  std::mutex total_lock;
  std::latch gate(1);
  const auto worker = [&] {
    gate.wait();
    static_cast<void>(shop::work(options));
    const std::lock_guard<std::mutex> guard(total_lock);
    for (const auto& [name, count] : shop::count_names) {
      total.*count += shop::counts.*count;
    }
  };

  std::vector<std::jthread> threads;
  for (std::uint64_t index = 1; index < options.threads; ++index) {
    threads.emplace_back(worker);
  }
  std::printf("order_server: process %d, %llu threads\n", static_cast<int>(getpid()),
              static_cast<unsigned long long>(options.threads));
  std::fflush(stdout);
  if (options.wait) {
    shop::wait_for_byte();
  }
  gate.count_down();
  worker();
  threads.clear();
  for (const auto& [name, count] : shop::count_names) {
    std::printf("%s %llu\n", name, static_cast<unsigned long long>(total.*count));
  }
  return 0;
}
