// A second static function of the name tick, for names.cpp.
static __attribute__((noipa)) int tick(int value) {
  return value + 8;
}
int other_ticks(int value) {
  return tick(value) + tick(value + 1);
}
