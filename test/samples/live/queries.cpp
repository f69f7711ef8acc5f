// Threads that query SQLite, each a database of its own in memory. A query reads 3,000 rows:
// sqlite3_step is called 3,001 times as often as run_query. Compile with -lsqlite3.
//
//   --threads N   (4)
//   --calls N     queries of each thread; 0: until the end
#include "program.hpp"

#include <latch>
#include <sqlite3.h>
#include <thread>

namespace {

constexpr int rows = 10'000;
constexpr int rows_of_query = 3'000;

struct Database {
  sqlite3* connection = nullptr;
  sqlite3_stmt* query = nullptr;

  Database() {
    const char* const make =
        "create table item(id integer primary key, price integer);"
        "with recursive n(i) as (select 1 union all select i+1 from n where i < 10000)"
        " insert into item select i, i % 97 from n;";
    if (sqlite3_open(":memory:", &connection) != SQLITE_OK ||
        sqlite3_exec(connection, make, nullptr, nullptr, nullptr) != SQLITE_OK ||
        sqlite3_prepare_v2(connection, "select price from item where id between ?1 and ?2", -1,
                           &query, nullptr) != SQLITE_OK) {
      std::fprintf(stderr, "queries: %s\n", sqlite3_errmsg(connection));
      std::exit(1);
    }
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    sqlite3_finalize(query);
    sqlite3_close(connection);
  }
};

struct Worker {
  truth::Latencies latencies;
  truth::Timeline timeline;
  truth::CallList list; // the first calls
};

constexpr std::size_t most_listed = 100'000;

} // namespace

// Returns the sum of the prices of 3,000 items.
extern "C" OWN_FUNCTION long run_query(sqlite3_stmt* query, int first) {
  sqlite3_bind_int(query, 1, first);
  sqlite3_bind_int(query, 2, first + rows_of_query - 1);
  long sum = 0;
  while (sqlite3_step(query) == SQLITE_ROW) {
    sum += sqlite3_column_int(query, 0);
  }
  sqlite3_reset(query);
  return sum;
}

int main(int count, char** words) {
  double threads = 4;
  double calls = 0;
  truth::Program program(count, words, {{"--threads", &threads}, {"--calls", &calls}});
  const auto most = static_cast<std::uint64_t>(calls);
  const auto size = static_cast<std::size_t>(threads);
  std::vector<Worker> workers(size, {{}, truth::Timeline(program.ticks_per_ns()), {}});
  std::latch ready(static_cast<std::ptrdiff_t>(size));
  std::latch gate(1);
  std::vector<std::jthread> running;
  for (Worker& worker : workers) {
    running.emplace_back([&worker, &program, &ready, &gate, most] {
      const Database database;
      ready.count_down();
      gate.wait();
      int first = 1;
      for (std::uint64_t number = 1; most == 0 || number <= most; ++number) {
        const std::uint64_t begin = truth::ticks();
        const long sum = run_query(database.query, first);
        const std::uint64_t now = truth::ticks();
        worker.latencies.add(now - begin);
        if (worker.list.size() < most_listed) {
          worker.list.emplace_back(begin, now - begin);
        }
        worker.timeline.add(now, number);
        first = 1 + (first + static_cast<int>(sum)) % (rows - rows_of_query);
        if (program.ends(now)) {
          break;
        }
      }
    });
  }
  ready.wait();
  program.start();
  gate.count_down();
  running.clear();
  truth::Latencies all;
  truth::CallList list;
  std::vector<const truth::Timeline*> timelines;
  for (const Worker& worker : workers) {
    all.add(worker.latencies);
    timelines.push_back(&worker.timeline);
    list.insert(list.end(), worker.list.begin(), worker.list.end());
  }
  return program.finish({{"run_query", &all}}, timelines, list);
}
