// The program itself comes first in a target's list, and is usually the largest of its files.
#include "engine/recording/reading_ahead.hpp"

#include "engine/recording/copied_binaries.hpp"
#include "engine/recording/followed_trace.hpp"
#include "record/targets/target_files.hpp"
#include "record/vdso.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds between_looks{50};
constexpr std::chrono::milliseconds patience{100};      // for a thread that may not hurry
constexpr std::uint64_t much = std::uint64_t{8} << 20U; // bytes: about a second of decoding

} // namespace

struct ReadingAhead::Work {
  std::atomic<bool> stopped = false;
  std::shared_ptr<std::atomic<std::uint64_t>> behind;
  std::shared_ptr<symbols::ReadBinaries> binaries = std::make_shared<symbols::ReadBinaries>();
  std::atomic<unsigned> files = 0; // that were read
  std::shared_ptr<flow::DecodedAhead> trace;

  void run(const record::Request& request) {
    const std::string& folder = request.output;
    BinaryCopies copies(folder);
    // `here`: the path itself opens the file of the process.
    std::set<std::string> known;
    const auto read = [&](const std::string& path, bool here) {
      if (stopped || !known.insert(path).second) {
        return;
      }
      std::error_code failed;
      const std::string copy = path == "[vdso]" ? folder + "/" + record::vdso_name : folder + path;
      if (here && !fs::exists(copy, failed)) {
        copies.add(path);
      }
      files += binaries->read(fs::exists(copy, failed) ? copy : path) ? 1 : 0;
    };
    if (const auto target = record::TargetFiles::of(request)) {
      for (const record::TargetFile& file : target->files()) {
        read(file.path, file.open_path == file.path);
      }
    }
    OpenOptions options;
    options.read = binaries;
    FollowedTrace followed(folder, std::move(options));
    while (!stopped) {
      Pace pace;
      followed.go_on([&](const std::string& path) { read(path, path.starts_with('/')); },
                     [&] {
                       pace.give_way(stopped);
                       return stopped.load();
                     });
      const std::uint64_t bytes = followed.bytes_behind();
      *behind = bytes >= much && !stopped ? bytes : 0;
      std::this_thread::sleep_for(between_looks);
    }
    trace = followed.take();
  }
};

ReadingAhead::ReadingAhead(std::shared_ptr<std::atomic<std::uint64_t>> behind)
    : work_(std::make_shared<Work>()) {
  work_->behind = std::move(behind);
}

ReadingAhead::~ReadingAhead() {
  work_->stopped = true;
}

void ReadingAhead::begin(const record::Request& running) {
  thread_.emplace([request = running, work = work_] { work->run(request); });
}

std::optional<Note> ReadingAhead::end() {
  if (!thread_) {
    return std::nullopt;
  }
  work_->stopped = true;
  ended_ = thread_->finish(patience);
  *work_->behind = 0;
  using std::chrono::milliseconds;
  return make_note("read_while_recording",
                   "while the program was traced, idle processors spent {} ms on the symbols of {} "
                   "files and on decoding {} bytes of the trace",
                   std::chrono::duration_cast<milliseconds>(thread_->cpu_time()).count(),
                   work_->files.load(), ended_ && work_->trace ? work_->trace->bytes_done() : 0);
}

ReadSoFar ReadingAhead::take() {
  return {.binaries = work_->binaries, .trace = ended_ ? std::move(work_->trace) : nullptr};
}

} // namespace ptlens::engine
