// ptlens: the helper and the command line in one binary.
#include "cli/cli.hpp"

int main(int argc, char** argv) {
  return ptlens::cli::run(argc, argv, PTLENS_VERSION);
}
