// A child process in a process group of its own: started from an argument array, never a shell, and
// killed with its whole group and reaped when this object ends. It is told to end (SIGTERM) when
// the thread that started it dies.
#pragma once

#include "base/error.hpp"
#include "record/processes/descriptor.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::record {

struct ChildOptions {
  std::vector<std::string> arguments = {};   // the first is the path of the program
  std::string working_directory = {};        // empty: ours
  std::vector<std::string> environment = {}; // "NAME=VALUE", added to ours
  std::vector<int> inherited = {};           // descriptors that it keeps, under the same numbers
};

class Child {
public:
  // Its standard input is empty, its output and errors go to output(). Errors: not_found, no_rights
  // or failed with what exec said.
  static Result<Child> start(const ChildOptions& options);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  [[nodiscard]] std::int32_t pid() const { return pid_; }
  [[nodiscard]] int output_descriptor() const { return output_.get(); }

  // Reads what it has written without waiting. The first and the last 32 KiB are kept.
  void read_output();
  [[nodiscard]] const std::string& output() const { return text_; }
  // The last line of output() that is not empty.
  [[nodiscard]] std::string last_line() const;

  // Its wait status once it has ended; what remains of its group is then killed.
  [[nodiscard]] std::optional<int> ended();
  // ended(), waited for at most that long while its output is read.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds limit);

  void signal(int number) const; // to the child alone
  void kill();                   // SIGKILL to its group, and reaps it

private:
  Child(std::int32_t pid, Descriptor output) : pid_(pid), output_(std::move(output)) {}

  std::int32_t pid_ = -1;
  Descriptor output_;
  std::string text_;
  std::optional<int> status_;
};

// Runs a program to its end and gives what it printed. Errors: as Child::start, and failed when it
// takes longer than `limit`.
[[nodiscard]] Result<std::string> run(const std::vector<std::string>& arguments,
                                      std::chrono::milliseconds limit);

} // namespace ptlens::record
