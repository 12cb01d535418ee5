// SPDX-License-Identifier: BSD-3-Clause
/* random_order [SEED [STEPS [THREADS]]]: random steps, alike on all ranks, which drift apart by
   random delays: collectives on communicators that come and go, with messages in flight across
   them. What arrives is known in advance; each byte of each buffer is looked at. A thread does its
   own steps on its own communicators. */
#include <pthread.h>
#include <unistd.h>

#include "random_collectives.h"

enum { groups = 8, most_mails = 64, rings = 4, room = 40000, queue = 256 };

/* A message in flight, known to all ranks. */
typedef struct {
  int used, from, to, tag, due, early;
  int sends, gets; /* this rank does */
  group* in;       /* may be another by now, if early */
  uint64_t id;
  long bytes;
  MPI_Request sending, receiving;
  blocks out, into;
} mail;

/* A receive of whatever comes, in the order of posting. */
typedef struct {
  MPI_Request request;
  unsigned char data[room];
} any_receive;

typedef struct {
  run r;
  group in[groups]; /* the first stays */
  mail mails[most_mails];
  int tags;

  /* Messages for receives with two wildcards, on a communicator of their own. */
  group any;
  int sent[most_ranks][most_ranks], got[most_ranks]; /* how many of each pair; from each to us */
  any_receive* posted[queue];                        /* of this rank, first to last */
  int postings;
  MPI_Request any_sends[queue];
  int any_sending, any_due, announced; /* the last one alike on all ranks */

  MPI_Request ring[2 * rings];
  blocks ring_out[rings], ring_into[rings];
  long ring_bytes[rings];
  uint64_t ring_id;
  int ring_runs;
} story;

static void make_group(group* g, MPI_Comm comm, const int members[], int size, int me) {
  g->comm = comm;
  g->size = size;
  g->rank = -1;
  g->open = 0;
  for (int i = 0; i < size; ++i) {
    g->members[i] = members[i];
    if (members[i] == me) g->rank = i;
  }
  CHECK((comm != MPI_COMM_NULL) == (g->rank >= 0));
  if (comm == MPI_COMM_NULL) return;
  int rank = -1, n = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  CHECK(rank == g->rank && n == size);
#if defined(FORM) && FORM == 1
  /* Blocking collectives set up the memory of most, over which nonblocking ones go then. */
  for (int i = 0; i < 3 && (members[0] + size) % 3 != 0; ++i) PMPI_Barrier(comm);
#endif
}

/* Ranks drift apart. */
static void delay(dice* own) {
  const long kind = below(own, 24);
  if (kind == 0) usleep((useconds_t)below(own, 300));
  if (kind > 3) return;
  const double until = MPI_Wtime() + 1e-6 * (double)below(own, kind == 1 ? 2000 : 100);
  while (MPI_Wtime() < until) continue;
}

/* Waits, by one of the ways there are. */
static void finish_all(run* r, int n, MPI_Request requests[]) {
  int left = n, index, flag = 0, some[most_mails];
  switch (below(&r->own, 5)) {
    case 0:
      MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (; left > 0; --left) MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
      break;
    case 2:
      while (left > 0) {
        MPI_Testsome(n, requests, &index, some, MPI_STATUSES_IGNORE);
        if (index == MPI_UNDEFINED) break;
        left -= index;
      }
      break;
    case 3:
      for (int i = n; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    default:
      while (!flag) MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
  }
}

/* --- messages in flight --- */

static void check_status(run* r, const mail* m, const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  if (count != m->bytes || status->MPI_SOURCE != m->from || status->MPI_TAG != m->tag) {
    WRONG(r, "message of %d bytes from %d with tag %d instead of %ld, %d, %d", count,
          status->MPI_SOURCE, status->MPI_TAG, m->bytes, m->from, m->tag);
  }
}

static void make_room(run* r, mail* m) {
  const long more = below(&r->own, 3) == 0 ? 8 * below(&r->own, 100) : 0;
  make_one(&m->into, m->bytes + more, &r->own);
}
static int source_of(run* r, const mail* m) {
  return below(&r->own, 4) == 0 ? MPI_ANY_SOURCE : m->from;
}

static void start_mail(run* r, mail* m) {
  const group* g = m->in;
  if (m->gets && m->early) {
    make_room(r, m);
    MPI_Irecv(block_at(&m->into, 0), m->into.counts[0], m->into.types[0], source_of(r, m), m->tag,
              g->comm, &m->receiving);
  }
  m->sending = MPI_REQUEST_NULL;
  if (!m->sends) return;
  make_one(&m->out, m->bytes, &r->own);
  put(&m->out, 0, content(m->id));
  const void* data = block_at(&m->out, 0);
  const int n = m->out.counts[0];
  const MPI_Datatype type = m->out.types[0];
  switch (below(&r->own, 6)) {
    case 0:
      MPI_Issend(data, n, type, m->to, m->tag, g->comm, &m->sending);
      break;
    case 1:
      if (m->early) { /* and whoever gets it has posted that by now, or will without us */
        MPI_Send(data, n, type, m->to, m->tag, g->comm);
        break;
      } /* fall through */
    default:
      MPI_Isend(data, n, type, m->to, m->tag, g->comm, &m->sending);
  }
}

/* A receive that nothing was posted for: by one of the ways there are. */
static void receive_late(run* r, mail* m, MPI_Status* status) {
  const MPI_Comm comm = m->in->comm;
  const int source = source_of(r, m), tag = m->tag;
  make_room(r, m);
  void* data = block_at(&m->into, 0);
  const int n = m->into.counts[0];
  const MPI_Datatype type = m->into.types[0];
  MPI_Message message;
  MPI_Request request;
  int flag = 0;
  switch (below(&r->own, 6)) {
    case 0:
      MPI_Probe(source, tag, comm, status);
      check_status(r, m, status); /* fall through */
    case 1:
      MPI_Recv(data, n, type, source, tag, comm, status);
      break;
    case 2:
      MPI_Mprobe(source, tag, comm, &message, status);
      check_status(r, m, status);
      MPI_Mrecv(data, n, type, &message, status);
      break;
    case 3:
      while (!flag) MPI_Improbe(source, tag, comm, &flag, &message, status);
      check_status(r, m, status);
      MPI_Imrecv(data, n, type, &message, &request);
      MPI_Wait(&request, status);
      break;
    case 4:
      while (!flag) MPI_Iprobe(source, tag, comm, &flag, status);
      check_status(r, m, status); /* fall through */
    default:
      MPI_Irecv(data, n, type, source, tag, comm, &request);
      MPI_Wait(&request, status);
  }
}

/* First all receives, which need nothing of us; then the sends, which need the others'. */
static void end_mails(story* s, int step) {
  run* r = &s->r;
  MPI_Request sends[most_mails];
  int sending = 0;
  for (mail* m = s->mails; m < s->mails + most_mails; ++m) {
    if (!m->used || m->due > step) continue;
    if (!m->early) --m->in->open;
    if (m->sends) sends[sending++] = m->sending;
    if (!m->gets) continue;
    MPI_Status status;
    if (m->early) {
      MPI_Wait(&m->receiving, &status);
    } else {
      receive_late(r, m, &status);
    }
    check_status(r, m, &status);
    expect_count(r, &m->into, 0, m->bytes / m->into.of[0]->bytes, content(m->id));
    end(r, &m->into);
  }
  finish_all(r, sending, sends);
  for (mail* m = s->mails; m < s->mails + most_mails; ++m) {
    if (!m->used || m->due > step) continue;
    m->used = 0;
    if (!m->sends) continue;
    expect(r, &m->out, 0, content(m->id));
    end(r, &m->out);
  }
}

static group* some_group(story* s, dice* d) {
  for (;;) {
    group* g = &s->in[below(d, groups)];
    if (g->size != 0) return g;
  }
}

static void do_mails(story* s, dice* d) {
  const long many = 1 + below(d, 12);
  for (long k = 0; k < many; ++k) {
    mail* m = s->mails;
    while (m < s->mails + most_mails && m->used) ++m;
    if (m == s->mails + most_mails) return;
    m->used = 1;
    m->in = some_group(s, d);
    m->from = (int)below(d, m->in->size);
    m->to = (int)below(d, m->in->size);
    m->sends = m->in->rank == m->from;
    m->gets = m->in->rank == m->to;
    m->tag = s->tags++ % 30000;
    m->due = s->r.step + (int)below(d, 12);
    m->early = (int)below(d, 2);
    m->id = roll(d);
    m->bytes = some_bytes(d, below(d, 4) == 0 ? 1 << 20 : 40000);
    if (!m->early) ++m->in->open;
    start_mail(&s->r, m);
  }
}

/* --- receives with two wildcards: any message may meet any of them, but those of one pair keep
   their order --- */

static uint64_t any_id(const run* r, int from, int to, int nth) {
  return between(r->seed * 31 + (uint64_t)r->number + 977u * (uint64_t)nth, from, to);
}
static long any_bytes(uint64_t id) {
  dice d = {id};
  return some_bytes(&d, below(&d, 2) ? room : 100);
}

static void post_any(story* s) {
  any_receive* a = malloc(sizeof *a);
  CHECK(a != NULL && s->postings < queue);
  MPI_Irecv(a->data, room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, s->any.comm, &a->request);
  s->posted[s->postings++] = a;
}

/* All that was announced has been sent, or will be by ranks that wait for nothing of ours. None
   gets ahead: its next messages would take the receives of those that others wait for. */
static void end_any(story* s) {
  run* r = &s->r;
  for (; s->any_due > 0; --s->any_due) post_any(s);
  for (int i = 0; i < s->postings; ++i) {
    any_receive* a = s->posted[i];
    MPI_Status status;
    int count = -1;
    MPI_Wait(&a->request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    const int from = status.MPI_SOURCE, nth = s->got[from]++;
    const uint64_t id = any_id(r, from, s->any.rank, nth);
    if (count != any_bytes(id) || status.MPI_TAG != nth) {
      WRONG(r, "%d bytes with tag %d from %d, not %ld with %d", count, status.MPI_TAG, from,
            any_bytes(id), nth);
    }
    if (memcmp(a->data, content(id), (size_t)count) != 0) WRONG(r, "wrong bytes from %d", from);
    free(a);
  }
  s->postings = s->announced = 0;
  MPI_Barrier(s->any.comm);
  MPI_Waitall(s->any_sending, s->any_sends, MPI_STATUSES_IGNORE);
  s->any_sending = 0;
}

static void do_any(story* s, dice* d) {
  const int many = 1 + (int)below(d, 16), n = s->any.size;
  s->announced += many;
  const int to = (int)below(d, n), to_all = (int)below(d, 2), early = (int)below(d, 2);
  for (int k = 0; k < many; ++k) {
    const int from = (int)below(d, n), target = to_all ? (to + k) % n : to;
    const int nth = s->sent[from][target]++;
    const uint64_t id = any_id(&s->r, from, target, nth);
    if (target == s->any.rank && early) post_any(s);
    if (target == s->any.rank && !early) ++s->any_due;
    if (from != s->any.rank) continue;
    CHECK(s->any_sending < queue);
    MPI_Isend(content(id), (int)any_bytes(id), MPI_BYTE, target, nth, s->any.comm,
              &s->any_sends[s->any_sending++]);
  }
}

/* --- persistent requests around a ring, blocking exchanges, cancelling --- */

static void make_ring(story* s, dice* d) {
  const group* g = &s->in[0];
  for (int i = 0; i < rings; ++i) {
    s->ring_bytes[i] = some_bytes(d, 1 << 20);
    blocks *out = &s->ring_out[i], *into = &s->ring_into[i];
    make_one(out, s->ring_bytes[i], &s->r.own);
    make_one(into, s->ring_bytes[i], &s->r.own);
    MPI_Recv_init(block_at(into, 0), into->counts[0], into->types[0],
                  (g->rank + g->size - i % g->size) % g->size, 30000 + i, g->comm, &s->ring[2 * i]);
    MPI_Send_init(block_at(out, 0), out->counts[0], out->types[0], (g->rank + i) % g->size,
                  30000 + i, g->comm, &s->ring[2 * i + 1]);
  }
}
static void stop_ring(story* s) {
  const group* g = &s->in[0];
  if (!s->ring_runs) return;
  s->ring_runs = 0;
  MPI_Waitall(2 * rings, s->ring, MPI_STATUSES_IGNORE);
  for (int i = 0; i < rings; ++i) {
    const int from = (g->rank + g->size - i % g->size) % g->size;
    expect(&s->r, &s->ring_into[i], 0, content(between(s->ring_id, from, i)));
    expect(&s->r, &s->ring_out[i], 0, content(between(s->ring_id, g->rank, i)));
  }
}
static void do_ring(story* s, dice* d) {
  if (s->ring_runs) {
    stop_ring(s);
    return;
  }
  s->ring_id = roll(d);
  s->ring_runs = 1;
  for (int i = 0; i < rings; ++i) {
    put(&s->ring_out[i], 0, content(between(s->ring_id, s->in[0].rank, i)));
  }
  MPI_Startall(2 * rings, s->ring);
}
static void free_ring(story* s) {
  stop_ring(s);
  for (int i = 0; i < rings; ++i) {
    MPI_Request_free(&s->ring[2 * i]);
    MPI_Request_free(&s->ring[2 * i + 1]);
    end(&s->r, &s->ring_out[i]);
    end(&s->r, &s->ring_into[i]);
  }
}

static void do_exchange(run* r, group* g, dice* d, uint64_t id) {
  const int by = (int)below(d, g->size), replace = (int)below(d, 3) == 0, tag = 31000;
  const int to = (g->rank + by) % g->size, from = (g->rank + g->size - by) % g->size;
  long bytes[most_ranks];
  for (int i = 0; i < g->size; ++i) bytes[i] = some_bytes(d, most_moved);
  for (int i = 0; i < g->size && replace; ++i) bytes[i] = bytes[0];
  blocks out, into;
  MPI_Status status;
  make_one(&out, bytes[g->rank], &r->own);
  make_one(&into, bytes[from], &r->own);
  put(&out, 0, content(between(id, g->rank, 0)));
  if (replace) {
    MPI_Sendrecv_replace(block_at(&out, 0), out.counts[0], out.types[0], to, tag, from, tag,
                         g->comm, &status);
    expect(r, &out, 0, content(between(id, from, 0)));
  } else {
    MPI_Sendrecv(block_at(&out, 0), out.counts[0], out.types[0], to, tag, block_at(&into, 0),
                 into.counts[0], into.types[0], from, tag, g->comm, &status);
    expect(r, &out, 0, content(between(id, g->rank, 0)));
    expect(r, &into, 0, content(between(id, from, 0)));
  }
  end(r, &out);
  end(r, &into);
}

static void do_cancel(run* r, group* g, dice* d, uint64_t id) {
  (void)d, (void)id;
  int number = 0, flag = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&number, 1, MPI_INT, below(&r->own, 2) ? MPI_ANY_SOURCE : 0, 32000, g->comm, &request);
  delay(&r->own);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  if (!flag) WRONG(r, "a receive that nothing was sent to met a message");
}

/* --- communicators --- */

/* Those of `g` whose bit is set, by decreasing rank if `turned`. */
static int chosen(const group* g, uint64_t bits, int turned, int members[]) {
  int n = 0;
  for (int k = 0; k < g->size; ++k) {
    const int i = turned ? g->size - 1 - k : k;
    if (bits >> i & 1) members[n++] = i;
  }
  return n;
}

static MPI_Comm make_of_some(const group* g, const int ranks[], int n, int by_members, int tag) {
  MPI_Group all, some;
  MPI_Comm made = MPI_COMM_NULL;
  int mine = -1;
  MPI_Comm_group(g->comm, &all);
  MPI_Group_incl(all, n, ranks, &some);
  MPI_Group_rank(some, &mine);
  if (!by_members) MPI_Comm_create(g->comm, some, &made);
  if (by_members && mine >= 0) MPI_Comm_create_group(g->comm, some, tag, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

/* One or two communicators of the members of another. */
static void do_make(story* s, dice* d) {
  group *free_ones[2] = {NULL, NULL}, *g = some_group(s, d);
  for (int i = 0; i < groups; ++i) {
    if (s->in[i].size == 0) free_ones[free_ones[0] != NULL] = &s->in[i];
  }
  const int kind = (int)below(d, 4), turned = (int)below(d, 2), tag = (int)below(d, 100);
  const uint64_t bits = roll(d) | 1ull << below(d, g->size);
  int ranks[2][most_ranks], members[most_ranks];
  const int n[2] = {chosen(g, kind == 0 ? ~0ull : bits, kind != 0 && turned, ranks[0]),
                    chosen(g, ~bits, turned, ranks[1])};
  if (free_ones[1] == NULL) return;
  MPI_Comm made = MPI_COMM_NULL;
  if (g->rank >= 0) {
    const int in_first = bits >> g->rank & 1;
    if (kind == 0) MPI_Comm_dup(g->comm, &made);
    if (kind == 1) {
      MPI_Comm_split(g->comm, in_first, turned ? -g->rank : 0, &made);
    }
    if (kind > 1) made = make_of_some(g, ranks[0], n[0], kind == 3, tag);
  }
  for (int half = 0; half < (kind == 1 ? 2 : 1); ++half) {
    if (n[half] == 0) continue;
    int here = 0;
    for (int i = 0; i < n[half]; ++i) {
      members[i] = g->members[ranks[half][i]];
      here = here || members[i] == s->r.me;
    }
    make_group(free_ones[half], here ? made : MPI_COMM_NULL, members, n[half], s->r.me);
  }
}

/* Messages whose receives have been posted may still be under way. */
static void free_group(group* g) {
  if (g->comm != MPI_COMM_NULL) MPI_Comm_free(&g->comm);
  g->size = 0;
  g->rank = -1;
}
static void do_free(story* s, dice* d) {
  group* g = some_group(s, d);
  if (g != s->in && g->open == 0) free_group(g);
}

/* --- the steps --- */

static void step(story* s) {
  run* r = &s->r;
  dice d = {roll(&r->common)};
  const long kind = below(&d, 100);
  const int any_ends = below(&d, 12) == 0; /* now: what is rolled below is not alike on all */
  delay(&r->own);
  r->what = kind < 20 ? "messages" : kind < 28 ? "any" : kind < 34 ? "ring" : "communicators";
  if (kind < 20) {
    do_mails(s, &d);
  } else if (kind < 28) {
    do_any(s, &d);
  } else if (kind < 34) {
    do_ring(s, &d);
  } else if (kind < 42) {
    do_make(s, &d);
  } else if (kind < 46) {
    do_free(s, &d);
  } else {
    group* g = some_group(s, &d);
    const long n = (long)(sizeof collectives / sizeof *collectives), which = below(&d, n + 2);
    const uint64_t id = roll(&d);
    r->what = which < n ? collectives[which].name : which == n ? "exchange" : "cancel";
    if (g->rank >= 0) {
      (which < n ? collectives[which].call : which == n ? do_exchange : do_cancel)(r, g, &d, id);
    }
  }
  r->what = "end of messages";
  end_mails(s, r->step);
  r->what = "end of any";
  if (any_ends || s->announced > queue / 2) end_any(s);
}

static int steps = 150;

static void* tell_story(void* argument) {
  story* s = argument;
  dice d = {roll(&s->r.common)};
  make_ring(s, &d);
  for (s->r.step = 0; s->r.step < steps; ++s->r.step) step(s);
  s->r.what = "the end";
  end_mails(s, steps + 100);
  end_any(s);
  free_ring(s);
  for (int i = 0; i < groups; ++i) free_group(&s->in[i]);
  free_group(&s->any);
  return NULL;
}

static story* make_story(uint64_t seed, int number) {
  story* s = calloc(1, sizeof *s);
  MPI_Comm first, any;
  int all[most_ranks], size, me;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  CHECK(s != NULL && size <= most_ranks);
  s->r = (run){.seed = seed, .number = number, .what = "start", .me = me};
  s->r.common.state = mixed(seed * 1000 + (uint64_t)number);
  s->r.own.state = s->r.common.state + 777u * (uint64_t)(me + 1);
  for (int i = 0; i < size; ++i) all[i] = i;
  for (int i = 0; i < groups; ++i) s->in[i].comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &any);
  make_group(&s->in[0], first, all, size, me);
  make_group(&s->any, any, all, size, me);
  return s;
}

int main(int argc, char** argv) {
  enum { most_threads = 16 };
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  steps = argc > 2 ? atoi(argv[2]) : steps;
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  int granted, me;
  story* stories[most_threads] = {NULL};
  pthread_t running[most_threads];
  MPI_Init_thread(NULL, NULL, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  CHECK(threads >= 1 && threads <= most_threads);
  CHECK(threads == 1 || granted == MPI_THREAD_MULTIPLE);
  if (me == 0) printf("random_order: seed %llu\n", (unsigned long long)seed);
  make_sea();
  make_layouts();
  make_reductions();
  for (int t = 0; t < threads; ++t) stories[t] = make_story(seed, t);
  for (int t = 1; t < threads; ++t) pthread_create(&running[t], NULL, tell_story, stories[t]);
  tell_story(stories[0]);
  for (int t = 1; t < threads; ++t) pthread_join(running[t], NULL);
  for (int t = 0; t < threads; ++t) free(stories[t]);
  free_layouts();
  free_reductions();
  free(sea);
  MPI_Finalize();
  return 0;
}
