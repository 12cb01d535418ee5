// SPDX-License-Identifier: BSD-3-Clause
/* Calls libcaf_sinew_15 or _16 (ABI says which) as the code of those compilers does: functions for
   each access, registered before main. */
#include "compiled.h"

#if ABI >= 16
int _gfortran_caf_this_image(void*);
int _gfortran_caf_num_images(void*, int32_t*);
void _gfortran_caf_form_team(int, void**, const int*, int*, char*, size_t);
void _gfortran_caf_fail_image(void);
void _gfortran_caf_change_team(void*, int*, char*, size_t);
void _gfortran_caf_end_team(int*, char*, size_t);
int _gfortran_caf_team_number(void*);
void* _gfortran_caf_get_team(const int*);
#else
int _gfortran_caf_this_image(int);
int _gfortran_caf_num_images(int, int);
#endif
void _gfortran_caf_register_accessor(int, void*);
void _gfortran_caf_register_accessors_finish(void);
int _gfortran_caf_get_remote_function_index(int);
void _gfortran_caf_get_from_remote(void*, const array*, const size_t*, int, size_t, void**, size_t*,
                                   array*, bool, int, void*, size_t, int*, void**, int*);
void _gfortran_caf_send_to_remote(void*, array*, const size_t*, int, size_t, const void*,
                                  const size_t*, const array*, int, void*, size_t, int*, void**,
                                  int*);
void _gfortran_caf_transfer_between_remotes(void*, array*, size_t*, int, int, void*, size_t, void*,
                                            const array*, const size_t*, int, int, void*, size_t,
#if ABI >= 16
                                            size_t, bool, int*, int*, void**, int*, void**, int*);
#else
                                            size_t, bool, int*, void**, int*, int*);
#endif
int32_t _gfortran_caf_is_present_on_remote(void*, int, int, void*, size_t);
/* Stats and teams come in other orders, and of 15 the source's team not at all. */
#if ABI >= 16
#define STATS(dst, src) dst, src, NULL, NULL, NULL, NULL
#else
#define STATS(dst, src) dst, NULL, NULL, src
#endif

enum {
  length = 10,
  element_hash = 4711,
  row_hash = 4712,
  store_hash = 4713,
  there_hash = 4714,
  tag_hash = 4715,
  behind_hash = 4716,
  all_behind_hash = 4717,
  put_behind_hash = 4718
};
struct subscript {
  int first, last;
};

static void* token;
static int* x;
static void* node_token;
static struct node* node;
static int runs_here = 0; /* of get_tag, which needs nobody else to run it */

/* x(i)[k]: the address of the element. */
static void get_element(void* add, const int* caller, void** buffer, int32_t* free_buffer,
                        void* from, void* t, size_t zero, size_t* to_length,
                        const size_t* from_length) {
  (void)caller, (void)t, (void)zero, (void)to_length, (void)from_length;
  *buffer = (int*)from + ((struct subscript*)add)->first - 1;
  *free_buffer = 0;
}
/* x(i:j)[k] into the descriptor's memory, or new memory if there is none. */
static void get_row(void* add, const int* caller, array* to, int32_t* free_buffer, void* from,
                    void* t, size_t zero, size_t* to_length, const size_t* from_length) {
  (void)caller, (void)t, (void)zero, (void)to_length, (void)from_length;
  const struct subscript* s = add;
  const int n = s->last - s->first + 1;
  void* const before = to->base;
  if (to->base == NULL) {
    to->base = malloc((size_t)n * 4);
  }
  *to = vector_of(to->base, n);
  memcpy(to->base, (int*)from + s->first - 1, (size_t)n * 4);
  *free_buffer = to->base != before;
}
/* x(i)[k] = value */
static void store_element(void* add, const int* caller, void* to, const void* from, void* t,
                          size_t zero, size_t* to_length, const size_t* from_length) {
  (void)caller, (void)t, (void)zero, (void)to_length, (void)from_length;
  ((int*)to)[((struct subscript*)add)->first - 1] = *(const int*)from;
}
static void is_there(void* add, const int* caller, int32_t* result, void* from, void* t,
                     size_t zero) {
  (void)caller, (void)t, (void)zero;
#if ABI >= 16
  from = *(void**)from;
#endif
  *result = ((int*)from)[((struct subscript*)add)->first - 1] != 0;
}

/* A coarray of a type with a pointer; what it points to no other image knows of. */
struct node {
  int tag;
  int* data;
  ptrdiff_t count;
};
static void get_tag(void* add, const int* caller, void** buffer, int32_t* free_buffer,
                    struct node* from, void* t, size_t zero, size_t* to_length,
                    const size_t* from_length) {
  (void)add, (void)caller, (void)t, (void)zero, (void)to_length, (void)from_length;
  *buffer = &from->tag;
  *free_buffer = 0;
  ++runs_here;
}
static void get_behind(void* add, const int* caller, void** buffer, int32_t* free_buffer,
                       struct node* from, void* t, size_t zero, size_t* to_length,
                       const size_t* from_length) {
  (void)caller, (void)t, (void)zero, (void)to_length, (void)from_length;
  *buffer = from->data + ((struct subscript*)add)->first - 1;
  *free_buffer = 0;
}
static void get_all_behind(void* add, const int* caller, array* to, int32_t* free_buffer,
                           struct node* from, void* t, size_t zero, size_t* to_length,
                           const size_t* from_length) {
  (void)add, (void)caller, (void)t, (void)zero, (void)to_length, (void)from_length;
  void* const before = to->base;
  if (before == NULL || to->dim[0].upper - to->dim[0].lower + 1 != from->count) {
    *to = vector_of(realloc(before, (size_t)from->count * 4 + 1), from->count);
  }
  for (ptrdiff_t i = 1; i <= from->count; ++i) {
    ((int*)to->base)[i * to->dim[0].stride + (ptrdiff_t)to->offset] = from->data[i - 1];
  }
  *free_buffer = to->base != before;
}
static void put_behind(void* add, const int* caller, struct node* to, const array* from, void* t,
                       size_t zero, size_t* to_length, const size_t* from_length) {
  (void)caller, (void)t, (void)zero, (void)to_length, (void)from_length;
  const struct subscript* s = add;
  for (int i = s->first; i <= s->last; ++i) {
    to->data[i - 1] = *(const int*)((const char*)from->base +
                                    ((i - s->first + from->dim[0].lower) * from->dim[0].stride +
                                     (ptrdiff_t)from->offset) *
                                        from->span);
  }
}

__attribute__((constructor)) static void before_main(void) {
  _gfortran_caf_register_accessor(element_hash, (void*)get_element);
  _gfortran_caf_register_accessor(row_hash, (void*)get_row);
  _gfortran_caf_register_accessors_finish();
  _gfortran_caf_register_accessor(store_hash, (void*)store_element);
  _gfortran_caf_register_accessor(there_hash, (void*)is_there);
  _gfortran_caf_register_accessor(tag_hash, (void*)get_tag);
  _gfortran_caf_register_accessor(behind_hash, (void*)get_behind);
  _gfortran_caf_register_accessor(all_behind_hash, (void*)get_all_behind);
  _gfortran_caf_register_accessor(put_behind_hash, (void*)put_behind);
  _gfortran_caf_register_accessors_finish();
  array a = scalar_of(NULL);
  _gfortran_caf_register(length * 4, 0, &token, &a, NULL, NULL, 0);
  x = a.base;
  a.element_bytes = sizeof(struct node);
  a.type = 5;
  _gfortran_caf_register(sizeof(struct node), 0, &node_token, &a, NULL, NULL, 0);
  node = a.base;
}

static int image(void) {
#if ABI >= 16
  return _gfortran_caf_this_image(NULL);
#else
  return _gfortran_caf_this_image(0);
#endif
}
static int images(void) {
#if ABI >= 16
  return _gfortran_caf_num_images(NULL, NULL);
#else
  return _gfortran_caf_num_images(0, -1);
#endif
}

static int fetch(int from, int i) {
  struct subscript s = {i, i};
  int value = -1;
  void* to = &value;
  _gfortran_caf_get_from_remote(token, NULL, NULL, from, 4, &to, NULL, NULL, false,
                                _gfortran_caf_get_remote_function_index(element_hash), &s, sizeof s,
                                NULL, NULL, NULL);
  return value;
}

/* The function says where the element is; that place is looked at before it is read. */
static void beyond_the_end(int from) {
  for (int i = 0; i <= length + 1; ++i) {
    struct subscript s = {i, i};
    int value = -1;
    int stat = -1;
    void* to = &value;
    _gfortran_caf_get_from_remote(token, NULL, NULL, from, 4, &to, NULL, NULL, false,
                                  _gfortran_caf_get_remote_function_index(element_hash), &s,
                                  sizeof s, &stat, NULL, NULL);
    EXPECT((stat == 0) == (i >= 1 && i <= length));
    EXPECT((value != -1) == (stat == 0));
  }
}

static void transfers(int me, int n) {
  const int next = me % n + 1;
  for (int i = 0; i < length; ++i) x[i] = 100 * me + i;
  _gfortran_caf_sync_all(NULL, NULL, 0);
  EXPECT(fetch(next, 4) == 100 * next + 3);
  beyond_the_end(next);

  struct subscript s = {3, 7};
  int room[5] = {0};
  array into = vector_of(room, 5);
  void* data = room;
  const int row = _gfortran_caf_get_remote_function_index(row_hash);
  _gfortran_caf_get_from_remote(token, NULL, NULL, next, 4, &data, NULL, &into, false, row, &s,
                                sizeof s, NULL, NULL, NULL);
  EXPECT(room[0] == 100 * next + 2 && room[4] == 100 * next + 6 && into.base == room);
  array fresh = vector_of(NULL, 0);
  data = NULL;
  _gfortran_caf_get_from_remote(token, NULL, NULL, next, 4, &data, NULL, &fresh, true, row, &s,
                                sizeof s, NULL, NULL, NULL);
  EXPECT(fresh.base != NULL && ((int*)fresh.base)[2] == 100 * next + 4);
  free(fresh.base);
  _gfortran_caf_sync_all(NULL, NULL, 0);

  struct subscript at = {9, 9};
  const int store = _gfortran_caf_get_remote_function_index(store_hash);
  int value = 7000 + me, stat = 9;
  _gfortran_caf_send_to_remote(token, NULL, NULL, next, 4, &value, NULL, NULL, store, &at,
                               sizeof at, &stat, NULL, NULL);
  EXPECT(stat == 0);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  const int before = (me + n - 2) % n + 1;
  EXPECT(x[8] == 7000 + before);
  at.first = n > 1 ? 10 : 1;
  if (me == 1) {
    struct subscript from = {9, 9};
    _gfortran_caf_transfer_between_remotes(token, NULL, NULL, n, store, &at, sizeof at, token, NULL,
                                           NULL, next,
                                           _gfortran_caf_get_remote_function_index(element_hash),
                                           &from, sizeof from, 4, true, STATS(&stat, &stat));
    EXPECT(fetch(n, at.first) == fetch(next, 9));
  }
  at.first = 9;
  EXPECT(_gfortran_caf_is_present_on_remote(
      token, next, _gfortran_caf_get_remote_function_index(there_hash), &at, sizeof at));
  stat = 0;
  _gfortran_caf_send_to_remote(token, NULL, NULL, n + 1, 4, &value, NULL, NULL, store, &at,
                               sizeof at, &stat, NULL, NULL);
  EXPECT(stat != 0);
}

static int fetch_node(int from, int hash, int i) {
  struct subscript s = {i, i};
  int value = -1;
  void* to = &value;
  _gfortran_caf_get_from_remote(node_token, NULL, NULL, from, 4, &to, NULL, NULL, false,
                                _gfortran_caf_get_remote_function_index(hash), &s, sizeof s, NULL,
                                NULL, NULL);
  return value;
}

/* Each image has as many, and somewhere else. */
static void components(int me, int n) {
  const int next = me % n + 1, before = (me + n - 2) % n + 1;
  const int many = 20000; /* more than one message holds */
  node->tag = 50 + me;
  node->count = many + me;
  node->data = malloc((size_t)(many + me) * 4 + (size_t)me * 4096);
  for (int i = 0; i < node->count; ++i) node->data[i] = 10000 * me + i;
  _gfortran_caf_sync_all(NULL, NULL, 0);
  EXPECT(fetch_node(next, tag_hash, 1) == 50 + next);
  /* On another node it runs there. */
  EXPECT(runs_here == 1 || getenv("SINEW_FABRIC_NODES") != NULL);
  EXPECT(fetch_node(next, behind_hash, 7) == 10000 * next + 6);
  EXPECT(fetch_node(me, behind_hash, 8) == 10000 * me + 7);

  const int all = _gfortran_caf_get_remote_function_index(all_behind_hash);
  int* room = malloc((size_t)(many + n) * 4);
  array into = vector_of(room, many + next);
  void* data = room;
  _gfortran_caf_get_from_remote(node_token, NULL, NULL, next, 4, &data, NULL, &into, false, all,
                                NULL, 0, NULL, NULL, NULL);
  EXPECT(into.base == room && room[0] == 10000 * next && room[many] == 10000 * next + many);
  free(room);
  /* An allocatable of another shape becomes one of this. */
  array fresh = vector_of(malloc(8), 2);
  data = fresh.base;
  int stat = 9;
  _gfortran_caf_get_from_remote(node_token, NULL, NULL, next, 4, &data, NULL, &fresh, true, all,
                                NULL, 0, &stat, NULL, NULL);
  EXPECT(stat == 0 && fresh.dim[0].upper == many + next && data == fresh.base);
  EXPECT(((int*)fresh.base)[many - 1] == 10000 * next + many - 1);
  free(fresh.base);
  _gfortran_caf_sync_all(NULL, NULL, 0);

  int sent[6] = {1, -1, 2, -2, 3, -3};
  array from = vector_of(sent, 3);
  from.dim[0].stride = 2;
  from.offset = (size_t)-2;
  struct subscript s = {5, 7};
  const int put = _gfortran_caf_get_remote_function_index(put_behind_hash);
  _gfortran_caf_send_to_remote(node_token, NULL, NULL, next, 12, sent, NULL, &from, put, &s,
                               sizeof s, NULL, NULL, NULL);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  EXPECT(node->data[4] == 1 && node->data[5] == 2 && node->data[6] == 3);
  EXPECT(node->data[3] == 10000 * me + 3 && node->data[7] == 10000 * me + 7);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  if (me == n) { /* from one image's component to another's */
    struct subscript end = {1, many + before};
    _gfortran_caf_transfer_between_remotes(node_token, NULL, NULL, next, put, &end, sizeof end,
                                           node_token, NULL, NULL, before, all, NULL, 0, 72, false,
                                           STATS(NULL, NULL));
  }
  _gfortran_caf_sync_all(NULL, NULL, 0);
  if (me == 1) {
    const int origin = n == 1 ? 1 : n - 1;
    EXPECT(node->data[many - 1] == 10000 * origin + many - 1);
  }
  _gfortran_caf_sync_all(NULL, NULL, 0);
  free(node->data);
}

static void messages(void) {
  char text[41] = "                                        ";
#if ABI >= 16
  char* where = text;
#else
  char* pointer = text; /* the compiler passes the address of a pointer */
  char* where = (char*)&pointer;
#endif
  int twice[2] = {1, 1};
  int stat = 0;
  _gfortran_caf_sync_images(2, twice, &stat, where, 40);
  EXPECT(stat != 0 && strstr(text, "twice") != NULL);
}

static void teams(int me, int n) {
#if ABI >= 16
  void* team = NULL;
  int stat = 9;
  const int reversed = n - me + 1;
  _gfortran_caf_form_team(5, &team, &reversed, &stat, NULL, 0);
  EXPECT(stat == 0 && _gfortran_caf_this_image(team) == reversed);
  _gfortran_caf_change_team(team, &stat, NULL, 0);
  EXPECT(image() == reversed && images() == n && _gfortran_caf_team_number(NULL) == 5);
  EXPECT(_gfortran_caf_get_team(NULL) == team);
  EXPECT(fetch(1, 1) / 100 == n || n == 1);
  _gfortran_caf_end_team(&stat, NULL, 0);
  EXPECT(image() == me && _gfortran_caf_team_number(NULL) == -1);
#else
  (void)me, (void)n;
#endif
}

/* What gfortran 12 does after ALLOCATE of an array whose type has a pointer component. */
static void spoiled_descriptor(void) {
  static array all, component;
  static void* all_token;
  int stat = 9;
  char text[200] = "";
  all = vector_of(NULL, 3);
  all.element_bytes = 88;
  all.type = 5;
  _gfortran_caf_register(3 * 88, 1, &all_token, &all, NULL, NULL, 0);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  _gfortran_caf_register(1, 7, (void**)((char*)&all + 80), &component, &stat, text, sizeof text);
  EXPECT(stat != 0 && strstr(text, "its type has a pointer component") != NULL);
  _gfortran_caf_deregister(&all_token, 0, NULL, NULL, 0);
}

/* The last image fails; the others form a team, are told why it is smaller, and go on in it. */
static void without_the_last(int me, int n) {
#if ABI >= 16
  void* team = NULL;
  int stat = 9;
  char text[30] = "";
  if (me == n) _gfortran_caf_fail_image();
  _gfortran_caf_form_team(7, &team, NULL, &stat, text, 30);
  EXPECT(stat == 6001 && strncmp(text, "an image has failed", 19) == 0);
  _gfortran_caf_change_team(team, &stat, NULL, 0);
  EXPECT(stat == 0 && image() == me && images() == n - 1);
#else
  (void)me, (void)n;
#endif
}

int main(int argc, char** argv) {
  _gfortran_caf_init(&argc, &argv);
  const int me = image(), n = images();
  transfers(me, n);
  components(me, n);
  messages();
  teams(me, n);
  spoiled_descriptor();
  int sum = me;
  array a = scalar_of(&sum);
  _gfortran_caf_co_sum(&a, 0, NULL, NULL, 0);
  EXPECT(sum == n * (n + 1) / 2);
  if (n > 2) without_the_last(me, n);
  return finish();
}
