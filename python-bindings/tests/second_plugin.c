/* A second profiler plug-in, for the tests: gives jaxlib the bytes of the file named by
   SECOND_PLUGIN_SPACE at the end of each session, as a plug-in with a listener of its own does. The
   structs are those of XLA's pjrt_c_api.h and profiler_c_api.h, as far as jaxlib reads them. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct args {
  size_t struct_size;
  void* profiler;
  uint8_t* buffer;
  size_t buffer_size;
};

struct create_args {
  size_t struct_size;
  const char* options;
  size_t options_size;
  void* profiler;
};

static uint8_t* space;
static size_t space_size;

static void* create(struct create_args* args) {
  args->profiler = &space;
  return NULL;
}

static void* nothing(struct args* args) {
  (void)args;
  return NULL;
}

static void* collect(struct args* args) {
  FILE* file = fopen(getenv("SECOND_PLUGIN_SPACE"), "rb");
  if (!file) abort();
  free(space);
  space = malloc(1 << 20);
  space_size = fread(space, 1, 1 << 20, file);
  fclose(file);
  args->buffer = space;
  args->buffer_size = space_size;
  return NULL;
}

/* No call returns an error, so nobody asks for one's text. */
static struct {
  size_t struct_size;
  void* priv;
  void *error_destroy, *error_message, *error_get_code;
  void *create, *destroy, *start, *stop, *collect;
} profiler_api = {80, NULL, nothing, nothing, nothing, create, nothing, nothing, nothing, collect};

static struct {
  size_t struct_size;
  int32_t type;
  void* next;
  void* profiler_api;
  int64_t context_id;
} extension = {40, 1, NULL, &profiler_api, 0};

static struct {
  size_t struct_size;
  void* extension_start;
  size_t version_size;
  void* version_extension;
  int32_t major, minor;
} api = {40, &extension, 24, NULL, 0, 54};

void* GetPjrtApi(void) {
  /* So that the words are in the file, when it is built with them. */
#ifdef WORDS
  if (getenv("SECOND_PLUGIN_SAYS")) puts(WORDS);
#endif
  return &api;
}
