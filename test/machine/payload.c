/* What native code does in a worker that was taken over. Node loads it as a module: payload(deed, count). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *Env, *Value, *Info;
int napi_get_cb_info(Env, Info, size_t *, Value *, Value *, void **);
int napi_get_value_int32(Env, Value, int *);
int napi_create_function(Env, const char *, size_t, Value (*)(Env, Info), void *, Value *);

static const size_t STRIDE = 2 << 20;
static int sum;

/* Reads one byte in each 2 MB: a page table of 4 KB each time, and no resident memory. */
static void tables(int count) {
  char *room = mmap(0, count * STRIDE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return;
  madvise(room, count * STRIDE, MADV_NOHUGEPAGE);
  for (int n = 0; n < count; n++) sum += ((volatile char *)room)[n * STRIDE];
}

static void *waits(void *none) { for (;;) pause(); return none; }
static void *spins(void *none) { for (volatile int n = 0;; n++); return none; }

static void threads(int count, void *(*work)(void *)) {
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16384);
  while (count-- > 0 && pthread_create(&thread, &small, work, 0) == 0);
}

static Value payload(Env env, Info info) {
  size_t given = 2;
  Value values[2];
  int deed = 0, count = 0;
  napi_get_cb_info(env, info, &given, values, 0, 0);
  napi_get_value_int32(env, values[0], &deed);
  napi_get_value_int32(env, values[1], &count);
  if (deed == 0) tables(count);
  else threads(count, deed == 1 ? waits : spins);
  return 0;
}

Value napi_register_module_v1(Env env, Value exports) {
  Value made = exports;
  napi_create_function(env, "payload", 7, payload, 0, &made);
  return made;
}
