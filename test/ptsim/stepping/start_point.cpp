// Breakpoints in debug registers, so that the program's code stays as it is.
#include "stepping/start_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <elf.h>
#include <filesystem>
#include <fstream>

namespace ptlens::ptsim {
namespace {

enum class Outcome : std::uint8_t { none, arrived, gone };

Result<Outcome> look(Tracee& thread, std::uint64_t address, Tracees& added) {
  const auto stop = thread.poll();
  for (const pid_t child : thread.take_children()) {
    auto made = std::make_unique<Tracee>(Tracee::adopt(child, thread.cpus()));
    if (auto set = made->break_at(address); !set) {
      return std::unexpected(set.error());
    }
    static_cast<void>(made->run());
    added.push_back(std::move(made));
  }
  if (!stop) {
    return Outcome::none;
  }
  if (stop->kind == StopKind::ended) {
    return Outcome::gone;
  }
  if (stop->kind == StopKind::exiting) {
    thread.let_end();
    return thread.is_gone() ? Outcome::gone : Outcome::none;
  }
  const auto registers = thread.registers();
  if (stop->kind == StopKind::executed && registers && registers->ip == address) {
    return Outcome::arrived;
  }
  auto resumed = thread.run();
  return resumed ? Result<Outcome>(Outcome::none) : std::unexpected(resumed.error());
}

void stop_all(Tracees& threads) {
  for (const auto& thread : threads) {
    thread->interrupt();
  }
  for (const auto& thread : threads) {
    thread->wait_interrupted();
    static_cast<void>(thread->break_at(0));
  }
  std::erase_if(threads, [](const auto& thread) { return thread->is_gone(); });
}

} // namespace

Result<bool> run_until(Tracees& threads, std::uint64_t address, Signals& signals,
                       const std::function<bool()>& give_up) {
  for (const auto& thread : threads) {
    if (auto set = thread->break_at(address); !set) {
      return std::unexpected(set.error());
    }
    if (auto resumed = thread->run(); !resumed) {
      return std::unexpected(resumed.error());
    }
  }
  while (!threads.empty()) {
    Tracees added;
    bool arrived = false;
    for (auto& thread : threads) {
      const auto outcome = look(*thread, address, added);
      if (!outcome) {
        return std::unexpected(outcome.error());
      }
      arrived = arrived || *outcome == Outcome::arrived;
      if (*outcome == Outcome::gone && threads.size() + added.size() > 1) {
        thread.reset();
      } else if (*outcome == Outcome::gone) {
        return false; // kept: it has the exit status
      }
    }
    std::erase(threads, nullptr);
    std::ranges::move(added, std::back_inserter(threads));
    if (arrived || give_up()) {
      stop_all(threads);
      return arrived;
    }
    signals.wait({}, Signals::longest_wait_ms);
  }
  return false;
}

std::uint64_t program_entry(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/auxv", pid), std::ios::binary);
  Elf64_auxv_t entry{};
  while (file.read(reinterpret_cast<char*>(&entry), sizeof entry)) {
    if (entry.a_type == AT_ENTRY) {
      return entry.a_un.a_val;
    }
  }
  return 0;
}

Result<std::uint64_t> resolve_place(pid_t pid, Places& places, const std::string& place) {
  std::error_code failed;
  const std::string binary =
      std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), failed).string();
  std::uint64_t address = 0;
  if (place.starts_with("0x")) {
    std::from_chars(place.data() + 2, place.data() + place.size(), address, 16);
    const std::uint64_t in_binary = places.find(binary, address);
    address = in_binary != 0 ? in_binary : address;
  } else {
    address = places.find(binary, place);
  }
  if (address == 0) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = fmt::format("there is no function '{}'", place),
                                 .file = binary,
                                 .remedy = "give a name or address that nm prints"});
  }
  return address;
}

} // namespace ptlens::ptsim
