/* Multiplies matrices on several threads, with ROCTX ranges through a library opened at run time.
 *
 *   cc -O2 -pthread examples/roctx_dlopen.c -o roctx_dlopen -ldl
 *   xprof-roctx run --logdir LOGDIR -- ./roctx_dlopen
 *
 * Knows nothing of this project: it runs without ranges where there is no ROCTX library.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 1536, TILE = 192, TILES = SIDE / TILE, WORKERS = 3 };

/* The functions of the ROCTX API that this program calls, if there is a library. */
static struct {
  void (*mark)(const char* label);
  int (*push)(const char* label);
  int (*pop)(void);
  uint64_t (*start)(const char* label);
  void (*stop)(uint64_t id);
  void (*name_thread)(const char* name);
} roctx;

static void load_roctx(void) {
  static const char* const names[] = {"librocprofiler-sdk-roctx.so.1", "libroctx64.so.4"};
  void* library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; ++i) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    fprintf(stderr, "no ROCTX library, going on without ranges: %s\n", dlerror());
    return;
  }
  *(void**)&roctx.mark = dlsym(library, "roctxMarkA");
  *(void**)&roctx.push = dlsym(library, "roctxRangePushA");
  *(void**)&roctx.pop = dlsym(library, "roctxRangePop");
  *(void**)&roctx.start = dlsym(library, "roctxRangeStartA");
  *(void**)&roctx.stop = dlsym(library, "roctxRangeStop");
  *(void**)&roctx.name_thread = dlsym(library, "roctxNameOsThread");
}

static void push(const char* label) {
  if (roctx.push != NULL) roctx.push(label);
}

static void pop(void) {
  if (roctx.pop != NULL) roctx.pop();
}

static float left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];
static int next_tile;
static int tiles_left = TILES * TILES;
static uint64_t whole;

static void pack_column(int column, float packed[SIDE][TILE]) {
  for (int k = 0; k < SIDE; ++k) {
    for (int j = 0; j < TILE; ++j) packed[k][j] = right[k][column * TILE + j];
  }
}

static void multiply_tile(int row, int column, float packed[SIDE][TILE]) {
  for (int i = row * TILE; i < (row + 1) * TILE; ++i) {
    float* out = &product[i][column * TILE];
    for (int k = 0; k < SIDE; ++k) {
      for (int j = 0; j < TILE; ++j) out[j] += left[i][k] * packed[k][j];
    }
  }
}

static void* work(void* number) {
  char name[32];
  snprintf(name, sizeof name, "multiplier %d", (int)(intptr_t)number);
  if (roctx.name_thread != NULL) roctx.name_thread(name);

  float(*packed)[TILE] = malloc(sizeof(float[SIDE][TILE]));
  if (packed == NULL) abort();
  for (;;) {
    int tile = __atomic_fetch_add(&next_tile, 1, __ATOMIC_RELAXED);
    if (tile >= TILES * TILES) break;
    int row = tile / TILES, column = tile % TILES;
    push("tile");
    push("pack");
    pack_column(column, packed);
    pop();
    push("multiply");
    multiply_tile(row, column, packed);
    pop();
    pop();
    /* The last tile ends the range that main began, on whichever thread that is. */
    if (__atomic_sub_fetch(&tiles_left, 1, __ATOMIC_ACQ_REL) == 0) {
      if (roctx.mark != NULL) roctx.mark("last tile");
      if (roctx.stop != NULL) roctx.stop(whole);
    }
  }
  free(packed);
  return NULL;
}

int main(void) {
  load_roctx();
  push("fill");
  for (int i = 0; i < SIDE; ++i) {
    for (int j = 0; j < SIDE; ++j) {
      left[i][j] = (float)((i + j) % 7);
      right[i][j] = (float)(i == j);
    }
  }
  pop();

  if (roctx.start != NULL) whole = roctx.start("multiply matrices");
  pthread_t workers[WORKERS];
  for (intptr_t i = 0; i < WORKERS; ++i) {
    if (pthread_create(&workers[i], NULL, work, (void*)i) != 0) abort();
  }
  for (int i = 0; i < WORKERS; ++i) pthread_join(workers[i], NULL);

  push("verify");
  int wrong = 0;
  for (int i = 0; i < SIDE; ++i) {
    for (int j = 0; j < SIDE; ++j) wrong += product[i][j] != left[i][j];
  }
  pop();
  printf("multiplied %d x %d matrices in %d tiles, %d elements wrong\n", SIDE, SIDE, TILES * TILES,
         wrong);
  return wrong != 0;
}
