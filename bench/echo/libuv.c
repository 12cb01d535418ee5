// SPDX-License-Identifier: BSD-3-Clause
// The echo server on libuv: one thread, one loop, callbacks. Compiled by `sinew bench echo` where
// pkg-config knows libuv.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <uv.h>

typedef struct {
  uv_write_t request;
  uv_buf_t buffer;
} answer;

static void closed(uv_handle_t* handle) { free(handle); }

static void allocate(uv_handle_t* handle, size_t suggested, uv_buf_t* buffer) {
  (void)handle;
  (void)suggested;
  *buffer = uv_buf_init(malloc(4096), 4096);
}

static void written(uv_write_t* request, int status) {
  (void)status;
  answer* const a = (answer*)request;
  free(a->buffer.base);
  free(a);
}

static void got(uv_stream_t* client, ssize_t bytes, const uv_buf_t* buffer) {
  answer* const a = bytes > 0 ? malloc(sizeof *a) : NULL;
  if (a == NULL) {
    free(buffer->base);
    if (bytes != 0) uv_close((uv_handle_t*)client, closed);
    return;
  }
  a->buffer = uv_buf_init(buffer->base, (unsigned)bytes);
  if (uv_write(&a->request, client, &a->buffer, 1, written) != 0) written(&a->request, 0);
}

static void connected(uv_stream_t* server, int status) {
  uv_pipe_t* const client = status == 0 ? malloc(sizeof *client) : NULL;
  if (client == NULL) return;
  uv_pipe_init(server->loop, client, 0);
  if (uv_accept(server, (uv_stream_t*)client) != 0 ||
      uv_read_start((uv_stream_t*)client, allocate, got) != 0)
    uv_close((uv_handle_t*)client, closed);
}

int main(int argc, char** argv) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  uv_loop_t* const loop = uv_default_loop();
  uv_pipe_t server;
  uv_pipe_init(loop, &server, 0);
  if (argc < 2 || uv_pipe_bind(&server, argv[argc - 1]) != 0 ||
      uv_listen((uv_stream_t*)&server, 4096, connected) != 0) {
    fprintf(stderr, "libuv: cannot listen\n");
    return 1;
  }
  return uv_run(loop, UV_RUN_DEFAULT);
}
