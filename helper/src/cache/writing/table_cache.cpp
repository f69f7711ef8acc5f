#include "cache/writing/table_cache.hpp"

#include "cache/writing/writer.hpp"

namespace ptlens::cache {

Result<std::shared_ptr<CallCache>> cache_of(const stacks::CallTable& table,
                                            const Description& description) {
  Writer writer(Writer::Options{});
  stacks::CallSink* sink = nullptr;
  std::size_t first = 0; // of the thread
  for (std::size_t call = 0; call < table.size(); ++call) {
    if (call == 0 || table.thread[call] != table.thread[call - 1]) {
      sink = &writer.thread(table.thread[call]);
      first = call;
    }
    sink->take(stacks::closed_call(table, call, first));
  }
  return writer.finish({}, description);
}

} // namespace ptlens::cache
