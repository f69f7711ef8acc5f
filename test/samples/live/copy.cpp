// Copies a file again and again, through a buffer whose size is a setting.
//
//   --buffer N   bytes (4096)
//   --size N     bytes of the file (4194304)
//   --calls N    of copy_file (20)
#include "program.hpp"

#include <fcntl.h>
#include <unistd.h>

// Returns the bytes copied, -1 after an error.
extern "C" OWN_FUNCTION long copy_file(const char* from, const char* to, char* buffer,
                                       std::size_t size) {
  const int source = open(from, O_RDONLY);
  const int target = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  long copied = 0;
  while (true) {
    const ssize_t got = read(source, buffer, size);
    if (got <= 0) {
      copied = got < 0 ? -1 : copied;
      break;
    }
    if (write(target, buffer, static_cast<std::size_t>(got)) != got) {
      copied = -1;
      break;
    }
    copied += got;
  }
  close(source);
  close(target);
  return copied;
}

int main(int count, char** words) {
  double buffer_size = 4'096;
  double file_size = 4 << 20;
  double calls = 20;
  truth::Program program(count, words,
                         {{"--buffer", &buffer_size}, {"--size", &file_size}, {"--calls", &calls}});
  const char* const folder = std::getenv("TMPDIR");
  std::string source = std::string(folder != nullptr ? folder : "/tmp") + "/copy-XXXXXX";
  const int file = mkstemp(source.data());
  const std::string target = source + ".copy";
  std::vector<char> buffer(static_cast<std::size_t>(std::max(file_size, buffer_size)), 'x');
  const auto size = static_cast<ssize_t>(file_size);
  bool good = file >= 0 && write(file, buffer.data(), static_cast<std::size_t>(size)) == size;
  close(file);
  truth::Latencies copies;
  program.start();
  for (double call = 0; good && call < calls && !program.ends(truth::ticks()); ++call) {
    const std::uint64_t begin = truth::ticks();
    good = copy_file(source.c_str(), target.c_str(), buffer.data(),
                     static_cast<std::size_t>(buffer_size)) == size;
    copies.add(truth::ticks() - begin);
  }
  unlink(source.c_str());
  unlink(target.c_str());
  if (!good) {
    std::perror("copy");
    return 1;
  }
  return program.finish({{"copy_file", &copies}});
}
