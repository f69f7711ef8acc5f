// Functions with every kind of C++ name, each called a known number of times. names_other.cpp
// contains a static function with the same name as one of these.
#include <functional>

#define KEPT __attribute__((noipa))

namespace shop {

struct Order {
  int total;
  KEPT int operator+(int more) const;
  KEPT explicit operator bool() const;
  KEPT int operator()(int times) const;
};
int Order::operator+(int more) const {
  return total + more;
}
Order::operator bool() const {
  return total > 1;
}
int Order::operator()(int times) const {
  return total * times;
}

template <class T>
struct Box {
  T size;
  KEPT T weigh(int times) { return size * times; }
};

template <class T>
KEPT T largest(T one, T other) {
  return one > other ? one : other;
}

KEPT int settle(int sum) {
  return sum + 1;
}
KEPT double settle(double sum) {
  return sum + 2;
}

namespace {
KEPT int hidden(int value) {
  return value * 5;
}
} // namespace

} // namespace shop

static KEPT int tick(int value) {
  return value + 7;
}
int other_ticks(int value); // calls its own static tick() twice

static inline __attribute__((always_inline)) int mix(int value) {
  return (value * 17) ^ 5;
}
KEPT int stirs(int value) {
  return mix(value) + 1;
}
KEPT int blends(int value) {
  return mix(value + 3);
}

int main(int count, char**) {
  const shop::Order order{count};
  shop::Box<int> whole{2};
  shop::Box<double> part{2};
  int sum = (order + 2) + (order ? 1 : 0) + order(3);
  sum += whole.weigh(3) + static_cast<int>(part.weigh(4));
  sum += shop::largest(1, 2) + static_cast<int>(shop::largest(1.0, 2.0) + shop::largest(2.0, 3.0));
  sum += shop::settle(1) + static_cast<int>(shop::settle(1.0));
  sum += shop::hidden(3) + tick(2) + other_ticks(4) + stirs(sum) + blends(sum);
  const auto added = [sum](int value) KEPT { return value + sum; };
  return added(4) == 0 ? 1 : 0;
}
