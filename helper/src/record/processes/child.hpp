// A child process in its own process group. It is started from an argument array, never by a shell.
// Its whole group is killed and reaped when this object is destroyed. It gets SIGTERM when the
// thread that started it dies.
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
  std::string working_directory = {};        // empty: the helper's own
  std::vector<std::string> environment = {}; // "NAME=VALUE", added to the helper's own
  std::vector<int> inherited = {}; // descriptors that the child inherits, with the same numbers
  bool held = false;               // the child waits for release() before it becomes the program
};

class Child {
public:
  // Starts a child with an empty standard input, and output() as its output and error stream.
  // Errors: not_found, no_rights, or failed with the reason of exec.
  static Result<Child> start(const ChildOptions& options);

  // Lets a held child become the program. Errors: those of start.
  Result<void> release();

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  [[nodiscard]] std::int32_t pid() const { return pid_; }
  [[nodiscard]] int output_descriptor() const { return output_.get(); }

  // Reads the available output without waiting. output() contains the first and the last 32 KiB.
  void read_output();
  [[nodiscard]] const std::string& output() const { return text_; }
  // Returns the last line of output() that is not empty.
  [[nodiscard]] std::string last_line() const;

  // Returns the wait status when the child has ended, and kills the rest of its group.
  [[nodiscard]] std::optional<int> ended();
  // Reads the output until the child ends, for at most `limit`. Returns the same as ended().
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds limit);

  void signal(int number) const; // to the child, not to its group
  void kill();                   // sends SIGKILL to the group and reaps the child

private:
  Child(std::int32_t pid, Descriptor output) : pid_(pid), output_(std::move(output)) {}
  Result<void> await_start();

  std::int32_t pid_ = -1;
  Descriptor output_;
  Descriptor report_;   // the errno of a failed start
  Descriptor hold_;     // closed: the child goes on
  std::string program_; // for errors
  std::string working_directory_;
  std::string text_;
  std::optional<int> status_;
};

// Runs a program until it ends and returns its output. Errors: the errors of Child::start, and
// failed when the program does not end within `limit`.
[[nodiscard]] Result<std::string> run(const std::vector<std::string>& arguments,
                                      std::chrono::milliseconds limit);

} // namespace ptlens::record
