// Shared by the programs in this folder. Each makes a known number of calls in a known nesting; the
// numbers are in the tests (*_rows_test.cpp).
#pragma once

// A function that the compiler must call as written, neither inlined nor copied.
#if defined(__clang__) || !defined(__GNUC__)
#define KEEP __attribute__((noinline, used))
#else
#define KEEP __attribute__((noipa, used))
#endif

#ifdef __cplusplus
#define FUNCTION extern "C" KEEP
extern "C" {
#else
#define FUNCTION KEEP
#endif
extern volatile int work_done;
#ifdef __cplusplus
}
#endif

#ifndef NO_WORK_DONE
volatile int work_done;
#endif

// A side effect that no compiler moves or removes; prevents tail calls.
#define WORK() (work_done = work_done + 1)
