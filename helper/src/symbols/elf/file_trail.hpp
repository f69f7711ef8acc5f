// Which files were opened, or looked for in vain, for as long as a trail is laid: what an answer
// that is kept depends on. All threads' files are on it, those of other work at the same time too.
#pragma once

#include <set>
#include <string>

namespace ptlens::symbols {

class FileTrail {
public:
  FileTrail();
  FileTrail(const FileTrail&) = delete;
  FileTrail& operator=(const FileTrail&) = delete;
  FileTrail(FileTrail&&) = delete;
  FileTrail& operator=(FileTrail&&) = delete;
  ~FileTrail();

  [[nodiscard]] std::set<std::string> paths() const;

  // To all trails that are laid now.
  static void note(const std::string& path);

private:
  std::set<std::string> paths_;
};

} // namespace ptlens::symbols
