// SPDX-License-Identifier: BSD-3-Clause
// What matching costs: the OSU latency and bandwidth tests between two ranks, modified so that more
// receives are posted, or other messages wait unexpected, on both sides. After the study of tag
// matching on ConnectX-5 (EuroMPI 2019): depth of the queue, how many of its entries collide with
// the measured tag in a table of 1021 or 64 bins, wildcards, cold caches.
//
// Each word "case:name=value,..." is one measurement:
//   case        latency | bandwidth | insert (one MPI_Irecv of an extra receive)
//   queue       posted (extra receives before the measured one) | behind | unexpected
//   depth       how many extras
//   collisions  percent of them whose tag falls into the bin of the measured tag
//   hash        1021: tags a multiple of 1021 apart (UCX) | 64: CRC-32C modulo 64 (PSM2)
//   wildcard    none | recv-any-source | recv-any-tag (the measured receive)
//               | extra-any-source | extra-any-tag (one of 64 extras)
//   cache       warm | cold (memory is swept between iterations)
//   bytes       of the measured message
// Before the first such word: budget_ms=N for each, sweep_kib=N of a cold cache.
#include <stdint.h>

#include "../common/line.h"

enum {
  measured_tag = 7,
  fence_tag = 3,
  first_extra_tag = 1000,
  window = 64,
  behind_batch = 64,
  wild_every = 64,
  fewest_batches = 3,
  fewest_refills = 5,
};

typedef struct {
  char kind[16], queue[16], wildcard[24], text[160];
  int depth, collisions, hash, cold, bytes;
} spec;

static double budget_ms = 25;
static size_t sweep_bytes = (size_t)16 << 20;
static int rank, peer;
static MPI_Comm control;  // agreements, beside the traffic that is measured
static char *outgoing, *incoming, *extra_bytes, *swept;
static int* extra_tags;
static MPI_Request* extras;

// ---- the specification ------------------------------------------------------------------------

static void set(spec* s, const char* name, const char* value) {
  if (strcmp(name, "queue") == 0) snprintf(s->queue, sizeof s->queue, "%s", value);
  else if (strcmp(name, "wildcard") == 0) snprintf(s->wildcard, sizeof s->wildcard, "%s", value);
  else if (strcmp(name, "depth") == 0) s->depth = atoi(value);
  else if (strcmp(name, "collisions") == 0) s->collisions = atoi(value);
  else if (strcmp(name, "hash") == 0) s->hash = atoi(value);
  else if (strcmp(name, "cache") == 0) s->cold = strcmp(value, "cold") == 0;
  else if (strcmp(name, "bytes") == 0) s->bytes = atoi(value);
  else stop_all("matching: unknown name in a case");
}

static spec read_spec(const char* word) {
  spec s = {"", "posted", "none", "-", 0, 0, 1021, 0, 8};
  char copy[160];
  const char* colon = strchr(word, ':');
  snprintf(s.kind, sizeof s.kind, "%.*s", (int)(colon - word), word);
  if (colon[1] != 0) snprintf(s.text, sizeof s.text, "%s", colon + 1);
  snprintf(copy, sizeof copy, "%s", colon + 1);
  for (char* part = strtok(copy, ","); part != NULL; part = strtok(NULL, ",")) {
    char* value = strchr(part, '=');
    if (value == NULL) stop_all("matching: a case needs name=value");
    *value = 0;
    set(&s, part, value + 1);
  }
  return s;
}

// ---- tags that collide, or do not -------------------------------------------------------------

static uint32_t crc32c_of_tag(uint32_t tag) {
  uint32_t crc = 0;
  for (int byte = 0; byte < 8; ++byte) {  // 64 bits: the tag, then the source, which adds the same
    crc ^= byte < 4 ? tag >> (8 * byte) & 0xff : 0;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return crc;
}

static int collides(int tag, int hash) {
  return hash == 64 ? crc32c_of_tag((uint32_t)tag) % 64 == crc32c_of_tag(measured_tag) % 64
                    : tag % 1021 == measured_tag;
}

// The next tag of one kind after `tag`; below 2^23, the least upper bound among the peers.
static int next_tag(int tag, int hash, int colliding) {
  do {
    if (++tag >= 1 << 23) tag = first_extra_tag;
  } while (collides(tag, hash) != colliding);
  return tag;
}

static void choose_tags(const spec* s) {
  int plain = first_extra_tag, colliding = first_extra_tag;
  for (long i = 0; i < s->depth; ++i) {
    const int hit = (i + 1) * s->collisions / 100 > i * s->collisions / 100;
    int* last = hit ? &colliding : &plain;
    *last = next_tag(*last, s->hash, hit);
    extra_tags[i] = *last;
  }
}

// ---- the extras -------------------------------------------------------------------------------

static int is_wild(const spec* s, const char* how, int i) {
  return i % wild_every == 0 && strcmp(s->wildcard, how) == 0;
}

// Extras with any tag are from the rank itself, or they would take the measured message.
static void post_extras(const spec* s) {
  for (int i = 0; i < s->depth; ++i) {
    const int own = is_wild(s, "extra-any-tag", i);
    const int any = is_wild(s, "extra-any-source", i);
    MPI_Irecv(&extra_bytes[i], 1, MPI_BYTE, own ? rank : any ? MPI_ANY_SOURCE : peer,
              own ? MPI_ANY_TAG : extra_tags[i], MPI_COMM_WORLD, &extras[i]);
  }
}

// In the order in which they were posted, so that each is the first of its list.
static void satisfy_extras(const spec* s) {
  MPI_Barrier(control);
  for (int i = 0; i < s->depth; ++i) {
    MPI_Send(outgoing, 1, MPI_BYTE, is_wild(s, "extra-any-tag", i) ? rank : peer, extra_tags[i],
             MPI_COMM_WORLD);
  }
  MPI_Waitall(s->depth, extras, MPI_STATUSES_IGNORE);
}

// When the fence has been received, all that was sent before it has arrived.
static void send_extras(const spec* s) {
  for (int i = 0; i < s->depth; ++i) {
    MPI_Isend(outgoing, 1, MPI_BYTE, peer, extra_tags[i], MPI_COMM_WORLD, &extras[i]);
  }
  MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, fence_tag, NULL, 0, MPI_BYTE, peer, fence_tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_extras(const spec* s) {
  MPI_Barrier(control);
  for (int i = 0; i < s->depth; ++i) {
    MPI_Recv(extra_bytes, 1, MPI_BYTE, peer, extra_tags[i], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(s->depth, extras, MPI_STATUSES_IGNORE);
}

static void fill(const spec* s) {
  if (strcmp(s->queue, "unexpected") == 0) send_extras(s);
  else post_extras(s);
  MPI_Barrier(control);
}

static void drain(const spec* s) {
  if (strcmp(s->queue, "unexpected") == 0) receive_extras(s);
  else satisfy_extras(s);
}

// ---- measuring --------------------------------------------------------------------------------

// What rank 0 says.
static int agreed(int n) {
  MPI_Bcast(&n, 1, MPI_INT, 0, control);
  return n;
}

static int source_of(const spec* s) {
  return strcmp(s->wildcard, "recv-any-source") == 0 ? MPI_ANY_SOURCE : peer;
}

static int tag_of(const spec* s) {
  return strcmp(s->wildcard, "recv-any-tag") == 0 ? MPI_ANY_TAG : measured_tag;
}

static void send_one(const spec* s) {
  MPI_Send(outgoing, s->bytes, MPI_BYTE, peer, measured_tag, MPI_COMM_WORLD);
}

static void bounce(const spec* s, int count) {
  for (int i = 0; i < count; ++i) {
    if (rank == 0) send_one(s);
    MPI_Recv(incoming, s->bytes, MPI_BYTE, source_of(s), tag_of(s), MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (rank == 1) send_one(s);
  }
}

static void stream(const spec* s, int count) {
  static MPI_Request requests[window];
  for (int w = 0; w < count; ++w) {
    for (int i = 0; i < window; ++i) {
      if (rank == 0) {
        MPI_Isend(outgoing, s->bytes, MPI_BYTE, peer, measured_tag, MPI_COMM_WORLD, &requests[i]);
      } else {
        MPI_Irecv(incoming, s->bytes, MPI_BYTE, source_of(s), tag_of(s), MPI_COMM_WORLD,
                  &requests[i]);
      }
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
      MPI_Recv(NULL, 0, MPI_BYTE, peer, fence_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(NULL, 0, MPI_BYTE, peer, fence_tag, MPI_COMM_WORLD);
    }
  }
}

// Median ns of one call's unit of work, in batches that together fill the budget. Even the first
// repetitions may take milliseconds, so their number is found by doubling.
static double batches(const spec* s, void (*work)(const spec*, int)) {
  double samples[most_batches], spent = 0, begin;
  int n = 1, count = 0;
  for (;; n *= 2) {
    begin = now_ns();
    work(s, n);
    const double took = now_ns() - begin;
    if (!agreed(took < budget_ms * 1e6 / 40 && n < 10000)) break;
  }
  for (int more = 1; more;) {
    begin = now_ns();
    work(s, n);
    samples[count] = (now_ns() - begin) / n;
    spent += samples[count++] * n;
    more = agreed(count < fewest_batches || (spent < budget_ms * 1e6 && count < most_batches));
  }
  return median(samples, count);
}

// The measured receives are posted first, so the extras are posted anew for each batch.
static double latency_behind(const spec* s) {
  MPI_Request measured[behind_batch];
  double samples[most_batches];
  const double first = now_ns();
  int count = 0;
  for (int more = 1; more;) {
    for (int i = 0; i < behind_batch; ++i) {
      MPI_Irecv(incoming, s->bytes, MPI_BYTE, source_of(s), tag_of(s), MPI_COMM_WORLD,
                &measured[i]);
    }
    fill(s);
    const double begin = now_ns();
    for (int i = 0; i < behind_batch; ++i) {
      if (rank == 0) send_one(s);
      MPI_Wait(&measured[i], MPI_STATUS_IGNORE);
      if (rank == 1) send_one(s);
    }
    samples[count++] = (now_ns() - begin) / behind_batch / 2;
    drain(s);
    more = agreed(count < fewest_refills ||
                  (now_ns() - first < budget_ms * 1e6 && count < most_batches));
  }
  return median(samples, count);
}

static void sweep(void) {
  for (size_t i = 0; i < sweep_bytes; i += 64) ++swept[i];
}

// Nothing may be said between sweeping and measuring, or it would warm what was swept: the ranks
// sweep at the same time and start by the clock, rank 1 a little earlier, so that its receive is
// posted, but not so early that its library puts it to sleep. Where one was late does not count.
static double latency_cold(const spec* s) {
  enum { head_start_ns = 20000 };
  double samples[most_batches];
  int late[most_batches];
  sweep();
  double begin = now_ns();
  sweep();
  double sweep_ns = now_ns() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &sweep_ns, 1, MPI_DOUBLE, MPI_MAX, control);
  int count = (int)(2 * budget_ms * 1e6 / (2 * sweep_ns));
  count = count < 9 ? 9 : count > most_batches ? most_batches : count;
  for (int i = 0; i < count; ++i) {
    const double go = now_ns() + 2 * sweep_ns + (rank == 0 ? head_start_ns : 0);
    sweep();
    late[i] = now_ns() > go;
    while (now_ns() < go) {
    }
    begin = now_ns();
    bounce(s, 1);
    samples[i] = (now_ns() - begin) / 2;
  }
  MPI_Allreduce(MPI_IN_PLACE, late, count, MPI_INT, MPI_MAX, control);
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    if (!late[i]) samples[kept++] = samples[i];
  }
  return median(samples, kept > 0 ? kept : count);
}

static double insertion(const spec* s) {
  double samples[most_batches];
  const double first = now_ns();
  int count = 0;
  for (int more = 1; more;) {
    const double begin = now_ns();
    post_extras(s);
    samples[count++] = (now_ns() - begin) / s->depth;
    satisfy_extras(s);
    more = agreed(count < fewest_refills ||
                  (now_ns() - first < budget_ms * 1e6 && count < most_batches));
  }
  return median(samples, count);
}

static void measure(const spec* s) {
  const char *metric = "latency", *unit = "ns";
  double value = 0;
  const double line = line_trip(rank);
  choose_tags(s);
  if (strcmp(s->kind, "insert") == 0) {
    value = s->depth > 0 ? insertion(s) : 0;
  } else if (strcmp(s->kind, "latency") == 0 && strcmp(s->queue, "behind") == 0) {
    value = latency_behind(s);
  } else {
    fill(s);
    if (strcmp(s->kind, "latency") == 0) {
      value = s->cold ? latency_cold(s) : batches(s, bounce) / 2;
    } else if (strcmp(s->kind, "bandwidth") == 0) {
      metric = "bandwidth";
      unit = "MB/s";
      value = window * (double)s->bytes / batches(s, stream) * 1e3;
    } else {
      stop_all("matching: unknown case");
    }
    drain(s);
  }
  if (rank == 0) report_sample(s->kind, metric, unit, s->text, value, line);
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  int deepest = 1, largest = 64;
  budget_ms = o.budget_ms;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "sweep_kib=", 10) == 0) sweep_bytes = (size_t)atol(argv[i] + 10) << 10;
    if (strchr(argv[i], ':') == NULL) continue;
    const spec s = read_spec(argv[i]);
    if (s.depth > deepest) deepest = s.depth;
    if (s.bytes > largest) largest = s.bytes;
  }
  rank = start(&argc, &argv, &o, 2);
  peer = 1 - rank;
  line_open(rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  outgoing = make_buffer((size_t)largest, 1);
  incoming = make_buffer((size_t)largest, 2);
  swept = make_buffer(sweep_bytes, 0);
  extra_bytes = make_buffer((size_t)deepest, 0);
  extra_tags = malloc((size_t)deepest * sizeof *extra_tags);
  extras = malloc((size_t)deepest * sizeof *extras);
  if (extra_tags == NULL || extras == NULL) stop_all("out of memory");
  for (int i = 1; i < argc; ++i) {
    if (strchr(argv[i], ':') == NULL) continue;
    const spec s = read_spec(argv[i]);
    measure(&s);
  }
  MPI_Comm_free(&control);
  MPI_Finalize();
  free(outgoing);
  free(incoming);
  free(swept);
  free(extra_bytes);
  free(extra_tags);
  free(extras);
  return 0;
}
