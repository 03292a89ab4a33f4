// Loaded with LD_PRELOAD, shifts a program's wall clock by KSEARCH_SKEW_SECONDS. Monotonic clocks
// stay right, as on a machine whose clock was set wrong.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

namespace {

long Skew() {
  static const long skew = [] {
    const char* const text = ::getenv("KSEARCH_SKEW_SECONDS");
    return text == nullptr ? 0 : ::atol(text);
  }();
  return skew;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += Skew();
  }
  return result;
}

extern "C" time_t time(time_t* out) noexcept {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

extern "C" int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec exact = {};
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}
