// The list of the files that an answer depends on.
#pragma once

#include <set>
#include <string>

namespace ptlens::symbols {

// Collects the path of every file that is opened, or looked for and not found, while the object
// lives: what a cached answer depends on. Files that other threads open for other work in the
// meantime are collected too.
class OpenedFiles {
public:
  OpenedFiles();
  OpenedFiles(const OpenedFiles&) = delete;
  OpenedFiles& operator=(const OpenedFiles&) = delete;
  OpenedFiles(OpenedFiles&&) = delete;
  OpenedFiles& operator=(OpenedFiles&&) = delete;
  ~OpenedFiles();

  [[nodiscard]] std::set<std::string> paths() const;

  // Adds the path to every OpenedFiles that lives now.
  static void add(const std::string& path);

private:
  std::set<std::string> paths_;
};

} // namespace ptlens::symbols
