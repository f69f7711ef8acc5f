// Multiplies matrices in two ways. multiply() reads one of them column by column.
// multiply_transposed() first copies it into a buffer, row by row, and frees the buffer by a tail
// call: operator delete[], which jumps to operator delete, which jumps to free.
//
//   --size N    rows and columns (256)
//   --calls N   of each function (6)
#include "program.hpp"

using Matrix = std::vector<double>;

OWN_FUNCTION void multiply(const double* one, const double* other, double* product,
                           std::size_t size) {
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      double sum = 0;
      for (std::size_t index = 0; index < size; ++index) {
        sum += one[row * size + index] * other[index * size + column];
      }
      product[row * size + column] = sum;
    }
  }
}

OWN_FUNCTION void multiply_transposed(const double* one, const double* other, double* product,
                                      std::size_t size) {
  auto* const transposed = new double[size * size];
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      transposed[column * size + row] = other[row * size + column];
    }
  }
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      double sum = 0;
      for (std::size_t index = 0; index < size; ++index) {
        sum += one[row * size + index] * transposed[column * size + index];
      }
      product[row * size + column] = sum;
    }
  }
  delete[] transposed;
}

int main(int count, char** words) {
  double rows = 256;
  double calls = 6;
  truth::Program program(count, words, {{"--size", &rows}, {"--calls", &calls}});
  const auto size = static_cast<std::size_t>(rows);
  Matrix one(size * size);
  Matrix other(size * size);
  Matrix product(size * size);
  for (std::size_t index = 0; index < one.size(); ++index) {
    one[index] = static_cast<double>(index % 7);
    other[index] = static_cast<double>(index % 5);
  }
  truth::Latencies plain;
  truth::Latencies transposed;
  double sum = 0;
  program.start();
  for (double call = 0; call < calls && !program.ends(truth::ticks()); ++call) {
    std::uint64_t begin = truth::ticks();
    multiply(one.data(), other.data(), product.data(), size);
    plain.add(truth::ticks() - begin);
    sum += product[size + 1];
    begin = truth::ticks();
    multiply_transposed(one.data(), other.data(), product.data(), size);
    transposed.add(truth::ticks() - begin);
    sum -= product[size + 1];
  }
  if (sum != 0) {
    std::fputs("matrix: the products differ\n", stderr);
    return 1;
  }
  return program.finish({{"multiply", &plain}, {"multiply_transposed", &transposed}});
}
