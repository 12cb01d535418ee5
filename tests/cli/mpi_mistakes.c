// SPDX-License-Identifier: BSD-3-Clause
/* Programs with one mistake each, and the same without it.
 *
 * usage: mpi_mistakes list | mpi_mistakes CASE wrong|right
 *
 * The line that is to be named, where one is, ends in a comment with the name of its case. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, rank, size;
static const MPI_Comm all = MPI_COMM_WORLD;

static void meet(void) { MPI_Barrier(all); }
static int other(void) { return 1 - rank; }

/* --- what is left at MPI_Finalize --- */

static void comm_dup(void) {
  MPI_Comm made;
  MPI_Comm_dup(all, &made); /* comm_dup */
  if (!wrong) {
    MPI_Comm_free(&made);
  }
}
static void comm_split(void) {
  MPI_Comm made;
  MPI_Comm_split(all, rank % 2, 0, &made); /* comm_split */
  if (!wrong) {
    MPI_Comm_free(&made);
  }
}
static void comm_idup(void) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(all, &made, &request); /* comm_idup */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (!wrong) {
    MPI_Comm_free(&made);
  }
}
static void cart_create(void) {
  MPI_Comm made;
  const int periods[1] = {1};
  MPI_Cart_create(all, 1, &size, periods, 0, &made); /* cart_create */
  if (!wrong) {
    MPI_Comm_free(&made);
  }
}
static void intercomm(void) {
  MPI_Comm half, made;
  MPI_Comm_split(all, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, all, 1 - rank % 2, 1, &made); /* intercomm */
  MPI_Comm_free(&half);
  if (!wrong) {
    MPI_Comm_free(&made);
  }
}
static void group(void) {
  MPI_Group made;
  MPI_Comm_group(all, &made); /* group */
  if (!wrong) {
    MPI_Group_free(&made);
  }
}
static void group_incl(void) {
  MPI_Group whole, made;
  const int first = 0;
  MPI_Comm_group(all, &whole);
  MPI_Group_incl(whole, 1, &first, &made); /* group_incl */
  MPI_Group_free(&whole);
  if (!wrong) {
    MPI_Group_free(&made);
  }
}
static void type(void) {
  MPI_Datatype made;
  MPI_Type_contiguous(3, MPI_INT, &made); /* type */
  MPI_Type_commit(&made);
  if (!wrong) {
    MPI_Type_free(&made);
  }
}
static void type_of_type(void) {
  MPI_Datatype inner, made;
  MPI_Type_contiguous(3, MPI_INT, &inner); /* type_of_type */
  MPI_Type_vector(2, 1, 2, inner, &made);
  if (!wrong) {
    MPI_Type_free(&inner);
  }
  MPI_Type_free(&made);
}
static void add(void* in, void* inout, int* n, MPI_Datatype* t) {
  (void)in, (void)inout, (void)n, (void)t;
}
static void op(void) {
  MPI_Op made;
  MPI_Op_create(add, 1, &made); /* op */
  if (!wrong) {
    MPI_Op_free(&made);
  }
}
static void send_not_awaited(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  int word = 7;
  if (rank == 0) {
    MPI_Isend(&word, 1, MPI_INT, 1, 0, all, &request); /* send_not_awaited */
  }
  if (rank == 1) {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
  }
  if (!wrong) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void one_of_two_not_awaited(void) {
  MPI_Request requests[2];
  int a = 1, b = 2, c, d;
  MPI_Irecv(&c, 1, MPI_INT, other(), 1, all, &requests[0]);
  MPI_Irecv(&d, 1, MPI_INT, other(), 2, all, &requests[1]); /* one_of_two_not_awaited */
  MPI_Send(&a, 1, MPI_INT, other(), 1, all);
  MPI_Send(&b, 1, MPI_INT, other(), 2, all);
  MPI_Waitall(wrong ? 1 : 2, requests, MPI_STATUSES_IGNORE);
}
static void receive_never_met(void) {
  MPI_Request request;
  int word;
  MPI_Irecv(&word, 1, MPI_INT, other(), 9, all, &request); /* receive_never_met */
  if (wrong) {
    return;
  }
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void persistent_not_freed(void) {
  MPI_Request request;
  int word = 1;
  if (rank == 0) {
    MPI_Send_init(&word, 1, MPI_INT, 1, 0, all, &request); /* persistent_not_freed */
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!wrong) {
      MPI_Request_free(&request);
    }
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
  }
}
static void window(void) {
  MPI_Win made;
  int* memory;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, all, &memory, &made); /* window */
  if (!wrong) {
    MPI_Win_free(&made);
  }
}
static void file(void) {
  MPI_File made;
  char name[64];
  snprintf(name, sizeof name, "/tmp/mpi_mistakes_%d_%d", rank, (int)(MPI_Wtime() * 1e6) & 0xfffff);
  MPI_File_open(MPI_COMM_SELF, name,
                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, /* file */
                MPI_INFO_NULL, &made);
  if (!wrong) {
    MPI_File_close(&made);
  } else {
    remove(name);
  }
}
static void message_not_received(void) {
  int word = 5;
  if (rank == 0) {
    MPI_Send(&word, 1, MPI_INT, 1, 3, all);
  }
  meet();
  if (rank == 1 && !wrong) {
    MPI_Recv(&word, 1, MPI_INT, 0, 3, all, MPI_STATUS_IGNORE);
  }
}
static void matched_not_received(void) {
  int word = 5;
  MPI_Message message;
  if (rank == 0) {
    MPI_Send(&word, 1, MPI_INT, 1, 3, all);
  }
  if (rank == 1) {
    MPI_Mprobe(0, 3, all, &message, MPI_STATUS_IGNORE); /* matched_not_received */
    if (!wrong) {
      MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
  }
}

/* --- kinds of data --- */

enum { much = 300000 };
static double many[much];
static int words[much];

static void kind(void) {
  float f = 1;
  int i = 1;
  if (rank == 0) {
    wrong ? MPI_Send(&f, 1, MPI_FLOAT, 1, 0, all) : MPI_Send(&i, 1, MPI_INT, 1, 0, all);
  }
  if (rank == 1) {
    MPI_Recv(&i, 1, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE); /* kind */
  }
}
static void kind_unexpected(void) {
  if (rank == 0) {
    MPI_Send(many, 4, wrong ? MPI_DOUBLE : MPI_INT, 1, 0, all);
  }
  meet();
  if (rank == 1) {
    MPI_Recv(words, 8, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE); /* kind_unexpected */
  }
}
static void kind_of_long_message(void) {
  if (rank == 0) {
    MPI_Send(many, much / 2, wrong ? MPI_DOUBLE : MPI_INT, 1, 0, all);
  }
  if (rank == 1) {
    MPI_Recv(words, much, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE); /* kind_of_long_message */
  }
}
static void kind_of_synchronous(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Ssend(many, 2, wrong ? MPI_DOUBLE : MPI_LONG_LONG, 1, 0, all);
  }
  if (rank == 1) {
    MPI_Irecv(words, 2, MPI_LONG_LONG, 0, 0, all, &request); /* kind_of_synchronous */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void kind_of_sendrecv(void) {
  MPI_Sendrecv(words, 2, rank == 0 && wrong ? MPI_FLOAT : MPI_INT, other(), 0, words + 10, 2,
               MPI_INT, other(), 0, all, MPI_STATUS_IGNORE);
}
static void kind_of_persistent(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Send_init(words, 1, wrong ? MPI_UNSIGNED : MPI_INT, 1, 0, all, &request);
  } else {
    MPI_Recv_init(words, 1, MPI_INT, 0, 0, all, &request); /* kind_of_persistent */
  }
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}
static void send_kind(void) {
  if (rank == 0) {
    MPI_Send(many, 2, wrong ? MPI_DOUBLE : MPI_LONG_LONG, 1, 0, all);
  }
}
static void kind_of_matched(void) {
  MPI_Message message;
  send_kind();
  if (rank == 1) {
    MPI_Mprobe(0, 0, all, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(words, 2, MPI_LONG_LONG, &message, MPI_STATUS_IGNORE); /* kind_of_matched */
  }
}
static void kind_of_matched_request(void) {
  MPI_Message message;
  MPI_Request request;
  send_kind();
  if (rank == 1) {
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, all, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(words, 2, MPI_LONG_LONG, &message, &request); /* kind_of_matched_request */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void kind_of_structure(void) {
  MPI_Datatype made;
  struct {
    int i;
    double d;
  } pair[2] = {{1, 2.0}, {3, 4.0}};
  const int ones[2] = {1, 1};
  const MPI_Aint places[2] = {0, 8}, swapped[2] = {8, 0};
  const MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE}, turned[2] = {MPI_DOUBLE, MPI_INT};
  const int turn = wrong && rank == 0;
  MPI_Type_create_struct(2, ones, turn ? swapped : places, turn ? turned : kinds, &made);
  MPI_Type_commit(&made);
  if (rank == 0) {
    MPI_Send(pair, 2, made, 1, 0, all);
  }
  if (rank == 1) {
    MPI_Recv(pair, 2, made, 0, 0, all, MPI_STATUS_IGNORE); /* kind_of_structure */
  }
  MPI_Type_free(&made);
}
/* Never wrong: what matches by the standard, however it is made. */
static void kinds_that_match(void) {
  MPI_Datatype rows, pairs;
  char packed[100];
  int at = 0;
  MPI_Type_vector(3, 2, 4, MPI_INT, &rows);
  MPI_Type_commit(&rows);
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  if (rank == 0) {
    MPI_Send(words, 1, rows, 1, 0, all);
    MPI_Send(words, 3, pairs, 1, 0, all);
    MPI_Pack(words, 6, MPI_INT, packed, sizeof packed, &at, all);
    MPI_Send(packed, at, MPI_PACKED, 1, 0, all);
    MPI_Send(words, 2, MPI_INT, 1, 0, all);
    MPI_Send(NULL, 0, MPI_DOUBLE, 1, 0, all);
  } else {
    MPI_Recv(words, 6, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
    MPI_Recv(words, 1, rows, 0, 0, all, MPI_STATUS_IGNORE);
    MPI_Recv(words, 6, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
    MPI_Recv(words, 100, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
    MPI_Recv(words, 100, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&rows);
  MPI_Type_free(&pairs);
}

/* --- buffers in use --- */

static void sent_changed(void) {
  MPI_Request request;
  int word = 1;
  if (rank == 0) {
    MPI_Isend(&word, 1, MPI_INT, 1, 0, all, &request); /* sent_changed */
    if (wrong) {
      word = 2;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    word = 3;
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
  }
}
static void long_sent_changed(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Issend(words, much, MPI_INT, 1, 0, all, &request); /* long_sent_changed */
    if (wrong) {
      words[much - 1] = 2;
    }
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  } else {
    MPI_Recv(words, much, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
  }
}
static void column_changed(void) {
  MPI_Datatype column;
  MPI_Request request;
  MPI_Type_vector(10, 1, 10, MPI_INT, &column);
  MPI_Type_commit(&column);
  if (rank == 0) {
    MPI_Isend(words, 1, column, 1, 0, all, &request); /* column_changed */
    words[wrong ? 50 : 51] = 2;                       /* the other columns are free */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(words, 10, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&column);
}
static void received_changed(void) {
  MPI_Request request;
  int word = 1, mine = 5;
  MPI_Irecv(&word, 1, MPI_INT, other(), 0, all, &request); /* received_changed */
  if (wrong) {
    word = 2;
  }
  MPI_Send(&mine, 1, MPI_INT, other(), 0, all);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (word != 5) {
    MPI_Abort(all, 3);
  }
}
static void received_sent(void) {
  MPI_Request request;
  int word = 1, mine = 5;
  MPI_Irecv(&word, 1, MPI_INT, other(), 0, all, &request); /* received_sent */
  MPI_Send(wrong ? &word : &mine, 1, MPI_INT, other(), 0, all);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void two_receives(void) {
  MPI_Request requests[2];
  MPI_Irecv(words, 10, MPI_INT, other(), 0, all, &requests[0]); /* two_receives */
  MPI_Irecv(words + (wrong ? 9 : 10), 10, MPI_INT, other(), 1, all, &requests[1]);
  MPI_Send(words + 100, 10, MPI_INT, other(), 0, all);
  MPI_Send(words + 100, 10, MPI_INT, other(), 1, all);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
/* Never wrong: two sends of one buffer, receives into interleaved columns, a buffer used again. */
static void buffers_shared(void) {
  MPI_Datatype column;
  MPI_Request requests[4];
  MPI_Type_vector(10, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Irecv(words, 1, column, other(), 0, all, &requests[0]);
    MPI_Irecv(words + 1, 1, column, other(), 1, all, &requests[1]);
    MPI_Isend(words + 100, 10, MPI_INT, other(), 0, all, &requests[2]);
    MPI_Isend(words + 100, 10, MPI_INT, other(), 1, all, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    words[0] = words[101] = turn;
  }
  MPI_Irecv(words, 10, MPI_INT, MPI_PROC_NULL, 0, all, &requests[0]);
  MPI_Sendrecv(words, 1, MPI_INT, MPI_PROC_NULL, 0, words, 1, MPI_INT, MPI_PROC_NULL, 0, all,
               MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
}
static void persistent_changed(void) {
  MPI_Request request;
  int word = 1;
  if (rank == 0) {
    MPI_Send_init(&word, 1, MPI_INT, 1, 0, all, &request); /* persistent_changed */
    for (int turn = 0; turn < 2; ++turn) {
      word = turn; /* not active: its own */
      MPI_Start(&request);
      if (wrong && turn == 1) {
        word = 7;
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
  }
}
static void persistent_receive_changed(void) {
  MPI_Request request;
  int word = 1;
  if (rank == 1) {
    MPI_Recv_init(&word, 1, MPI_INT, 0, 0, all, &request); /* persistent_receive_changed */
    for (int turn = 0; turn < 2; ++turn) {
      word = 5;
      MPI_Start(&request);
      if (wrong && turn == 1) {
        word = 7;
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (word != 1) {
        MPI_Abort(all, 3);
      }
    }
    MPI_Request_free(&request);
  } else {
    MPI_Send(&word, 1, MPI_INT, 1, 0, all);
    MPI_Send(&word, 1, MPI_INT, 1, 0, all);
  }
}
static void broadcast_changed(void) {
  MPI_Request request;
  int word = 4;
  MPI_Ibcast(&word, 1, MPI_INT, 0, all, &request); /* broadcast_changed */
  if (wrong && rank == 0) {
    word = 5;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void reduction_changed(void) {
  MPI_Request request;
  int word = 4, sum;
  MPI_Iallreduce(&word, &sum, 1, MPI_INT, MPI_SUM, all, &request); /* reduction_changed */
  if (wrong) {
    word = 5;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void reduction_into_sent(void) {
  MPI_Request request;
  MPI_Iallreduce(words, words + 10, 10, MPI_INT, MPI_SUM, all, &request); /* reduction_into_sent */
  MPI_Allreduce(words + 20, wrong ? words + 5 : words + 40, 10, MPI_INT, MPI_SUM, all);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void gather_overlaps(void) {
  MPI_Gather(wrong ? words : words + 100, 1, MPI_INT, words, 1, MPI_INT, 0, all);
}
static void sendrecv_overlaps(void) {
  MPI_Sendrecv(words, 4, MPI_INT, other(), 0, wrong ? words + 2 : words + 4, 4, MPI_INT, other(), 0,
               all, MPI_STATUS_IGNORE);
}
static void written_changed(void) {
  MPI_File f;
  MPI_Request request;
  char name[64];
  snprintf(name, sizeof name, "/tmp/mpi_mistakes_w%d_%d", rank, (int)(MPI_Wtime() * 1e6) & 0xfffff);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &f);
  remove(name);
  MPI_File_iwrite(f, words, 10, MPI_INT, &request); /* written_changed */
  if (wrong) {
    words[3] = 77;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&f);
}

/* --- collectives --- */

static void other_collective(void) {
  int word = 1, sum = 0;
  if (wrong && rank == 1) {
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, all);
  } else if (wrong) {
    MPI_Bcast(&word, 1, MPI_INT, 0, all);
  } else {
    MPI_Bcast(&word, 1, MPI_INT, 0, all);
  }
}
static void other_root(void) { MPI_Bcast(words, 1, MPI_INT, wrong ? rank : 0, all); }
static void other_op(void) {
  MPI_Allreduce(words, words + 1, 1, MPI_INT, wrong && rank == 1 ? MPI_MAX : MPI_SUM, all);
}
static void other_count(void) { MPI_Bcast(words, wrong && rank == 1 ? 3 : 2, MPI_INT, 0, all); }
static void other_kind(void) {
  MPI_Bcast(words, 1, wrong && rank == 1 ? MPI_FLOAT : MPI_INT, 0, all);
}
static void other_order(void) {
  MPI_Request requests[2];
  const int turned = wrong && rank == 1;
  if (turned) {
    MPI_Ibcast(words, 1, MPI_INT, 0, all, &requests[0]);
    MPI_Ibarrier(all, &requests[1]);
  } else {
    MPI_Ibarrier(all, &requests[0]);
    MPI_Ibcast(words, 1, MPI_INT, 0, all, &requests[1]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* --- arguments --- */

static void bad_rank(void) {
  MPI_Send(words, 1, MPI_INT, wrong ? size : MPI_PROC_NULL, 0, all); /* bad_rank */
}
static void bad_tag(void) {
  MPI_Send(words, 1, MPI_INT, MPI_PROC_NULL, wrong ? -5 : 5, all); /* bad_tag */
}
static void bad_count(void) {
  MPI_Send(words, wrong ? -1 : 1, MPI_INT, MPI_PROC_NULL, 0, all); /* bad_count */
}
static void bad_type(void) {
  MPI_Send(words, 1, wrong ? MPI_DATATYPE_NULL : MPI_INT, MPI_PROC_NULL, 0, all); /* bad_type */
}
static void bad_comm(void) {
  MPI_Send(words, 1, MPI_INT, MPI_PROC_NULL, 0, wrong ? MPI_COMM_NULL : all); /* bad_comm */
}
static void null_buffer(void) {
  MPI_Send(wrong ? NULL : words, 1, MPI_INT, MPI_PROC_NULL, 0, all); /* null_buffer */
}
static void type_not_committed(void) {
  MPI_Datatype made;
  MPI_Type_contiguous(3, MPI_INT, &made);
  if (!wrong) {
    MPI_Type_commit(&made);
  }
  MPI_Send(words, 1, made, MPI_PROC_NULL, 0, all); /* type_not_committed */
  MPI_Type_free(&made);
}
static void type_freed(void) {
  MPI_Datatype made, kept;
  MPI_Type_contiguous(3, MPI_INT, &made);
  MPI_Type_commit(&made);
  kept = made;
  if (wrong) {
    MPI_Type_free(&made);
  }
  MPI_Send(words, 1, kept, MPI_PROC_NULL, 0, all); /* type_freed */
  if (!wrong) {
    MPI_Type_free(&made);
  }
}
static void comm_freed(void) {
  MPI_Comm made, kept;
  MPI_Comm_dup(all, &made);
  kept = made;
  if (wrong) {
    MPI_Comm_free(&made);
  }
  MPI_Barrier(kept); /* comm_freed */
  if (!wrong) {
    MPI_Comm_free(&made);
  }
}
static void world_freed(void) {
  MPI_Comm made = all;
  if (!wrong) {
    MPI_Comm_dup(all, &made);
  }
  MPI_Comm_free(&made); /* world_freed */
}
static void bad_root(void) { MPI_Bcast(words, 1, MPI_INT, wrong ? size : 0, all); /* bad_root */ }
static void bad_op(void) {
  MPI_Allreduce(words, words + 1, 1, MPI_INT, wrong ? MPI_OP_NULL : MPI_SUM, all); /* bad_op */
}
static void op_not_for_type(void) {
  MPI_Allreduce(many, many + 1, 1, MPI_DOUBLE, wrong ? MPI_BAND : MPI_SUM,
                all); /* op_not_for_type */
}
static void truncated(void) {
  if (rank == 0) {
    MPI_Send(words, 10, MPI_INT, 1, 0, all);
  }
  if (rank == 1) {
    MPI_Recv(words, wrong ? 5 : 10, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE); /* truncated */
  }
}
static void started_twice(void) {
  MPI_Request request;
  MPI_Recv_init(words, 1, MPI_INT, MPI_PROC_NULL, 0, all, &request);
  MPI_Start(&request);
  if (!wrong) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Start(&request); /* started_twice */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}
static void collective_request_freed(void) {
  MPI_Request request;
  MPI_Ibarrier(all, &request);
  wrong ? MPI_Request_free(&request) /* collective_request_freed */
        : MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void dims_too_many(void) {
  MPI_Comm made;
  const int dims[1] = {wrong ? size + 1 : size}, periods[1] = {0};
  MPI_Cart_create(all, 1, dims, periods, 0, &made); /* dims_too_many */
  MPI_Comm_free(&made);
}
static void group_rank(void) {
  MPI_Group whole, made;
  const int which = wrong ? size : 0;
  MPI_Comm_group(all, &whole);
  MPI_Group_incl(whole, 1, &which, &made); /* group_rank */
  MPI_Group_free(&whole);
  MPI_Group_free(&made);
}
static void initialised_twice(void) {
  if (wrong) {
    MPI_Init(NULL, NULL);
  }
}
static void after_finalize(void) {
  if (!wrong) {
    return;
  }
  MPI_Finalize();
  MPI_Barrier(all);
}
static void put_without_epoch(void) {
  MPI_Win w;
  int* memory;
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, all, &memory, &w);
  if (!wrong) {
    MPI_Win_fence(0, w);
  }
  MPI_Put(words, 1, MPI_INT, rank, 0, 1, MPI_INT, w); /* put_without_epoch */
  if (!wrong) {
    MPI_Win_fence(0, w);
  }
  MPI_Win_free(&w);
}
static void put_outside(void) {
  MPI_Win w;
  int* memory;
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, all, &memory, &w);
  MPI_Win_fence(0, w);
  if (rank == 0) {
    MPI_Put(words, 1, MPI_INT, 1, wrong ? 16 : 15, 1, MPI_INT, w); /* put_outside */
  }
  MPI_Win_fence(0, w);
  MPI_Win_free(&w);
}
static void unlocked_twice(void) {
  MPI_Win w;
  int* memory;
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, all, &memory, &w);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
  MPI_Win_unlock(0, w);
  if (wrong) {
    MPI_Win_unlock(0, w); /* unlocked_twice */
  }
  MPI_Win_free(&w);
}

/* --- accesses that nothing orders --- */

static MPI_Win open_window(int** memory) {
  MPI_Win w;
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, all, memory, &w);
  memset(*memory, 0, 64 * sizeof(int));
  return w;
}
static void two_puts(void) {
  int *memory, mine = rank;
  MPI_Win w = open_window(&memory);
  MPI_Win_fence(0, w);
  MPI_Put(&mine, 1, MPI_INT, 0, wrong ? 0 : rank, 1, MPI_INT, w); /* two_puts */
  MPI_Win_fence(0, w);
  MPI_Win_free(&w);
}
static void put_and_get(void) {
  int *memory, mine = rank, got;
  MPI_Win w = open_window(&memory);
  MPI_Win_fence(0, w);
  if (rank == 0) {
    MPI_Put(&mine, 1, MPI_INT, 1, 3, 1, MPI_INT, w); /* put_and_get */
  }
  if (!wrong) {
    MPI_Win_fence(0, w);
  }
  if (rank == 1) {
    MPI_Get(&got, 1, MPI_INT, 1, 3, 1, MPI_INT, w);
  }
  MPI_Win_fence(0, w);
  MPI_Win_free(&w);
}
static void put_and_accumulate(void) {
  int *memory, mine = rank;
  MPI_Win w = open_window(&memory);
  MPI_Win_lock_all(0, w);
  if (rank == 0 && wrong) {
    MPI_Put(&mine, 1, MPI_INT, 1, 3, 1, MPI_INT, w);
  }
  if (rank == 0 && !wrong) {
    MPI_Accumulate(&mine, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_SUM, w);
  }
  if (rank == 1) {
    MPI_Accumulate(&mine, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_SUM, w); /* put_and_accumulate */
  }
  MPI_Win_unlock_all(w);
  MPI_Win_free(&w);
}
static void two_operations(void) {
  int *memory, mine = rank;
  MPI_Win w = open_window(&memory);
  MPI_Win_fence(0, w);
  MPI_Accumulate(&mine, 1, MPI_INT, 0, 0, 1, MPI_INT, wrong && rank == 1 ? MPI_MAX : MPI_SUM,
                 w); /* two_operations */
  MPI_Win_fence(0, w);
  MPI_Win_free(&w);
}
static void shared_locks(void) {
  int *memory, mine = rank;
  MPI_Win w = open_window(&memory);
  MPI_Win_lock(wrong ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w);
  MPI_Put(&mine, 1, MPI_INT, 0, 5, 1, MPI_INT, w); /* shared_locks */
  MPI_Win_unlock(0, w);
  MPI_Win_free(&w);
}
static void get_and_put_of_one_rank(void) {
  int *memory, mine = rank, got;
  MPI_Win w = open_window(&memory);
  MPI_Win_lock(MPI_LOCK_SHARED, other(), 0, w);
  MPI_Put(&mine, 1, MPI_INT, other(), 5, 1, MPI_INT, w); /* get_and_put_of_one_rank */
  if (!wrong) {
    MPI_Win_flush(other(), w);
  }
  MPI_Get(&got, 1, MPI_INT, other(), 5, 1, MPI_INT, w);
  MPI_Win_unlock(other(), w);
  MPI_Win_free(&w);
}
static void part_of_a_row(void) {
  int* memory;
  MPI_Datatype column;
  MPI_Win w = open_window(&memory);
  MPI_Type_vector(4, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Win_fence(0, w);
  if (rank == 0) {
    MPI_Put(words, 4, MPI_INT, 0, 0, 1, column, w); /* part_of_a_row */
  }
  if (rank == 1) {
    MPI_Put(words, 1, MPI_INT, 0, wrong ? 8 : 9, 1, MPI_INT, w);
  }
  MPI_Win_fence(0, w);
  MPI_Type_free(&column);
  MPI_Win_free(&w);
}
/* Never wrong: ordered by a barrier, by a message, by atomic operations, by reading a flag. */
static void ordered_accesses(void) {
  int *memory, mine = rank + 1, got = 0;
  MPI_Win w = open_window(&memory);
  MPI_Win_lock_all(0, w);
  if (rank == 0) {
    MPI_Put(&mine, 1, MPI_INT, 1, 3, 1, MPI_INT, w);
    MPI_Win_flush(1, w);
  }
  meet();
  if (rank == 1) {
    MPI_Get(&got, 1, MPI_INT, 1, 3, 1, MPI_INT, w);
    MPI_Win_flush(1, w);
    MPI_Put(&mine, 1, MPI_INT, 0, 4, 1, MPI_INT, w);
    MPI_Win_flush(0, w);
    MPI_Send(&mine, 1, MPI_INT, 0, 0, all);
  } else {
    MPI_Recv(&got, 1, MPI_INT, 1, 0, all, MPI_STATUS_IGNORE);
    MPI_Put(&mine, 1, MPI_INT, 0, 4, 1, MPI_INT, w);
    MPI_Win_flush(0, w);
  }
  meet();
  MPI_Fetch_and_op(&mine, &got, MPI_INT, 0, 6, MPI_SUM, w);
  MPI_Win_flush(0, w);
  MPI_Fetch_and_op(NULL, &got, MPI_INT, 0, 6, MPI_NO_OP, w);
  MPI_Win_flush(0, w);
  meet();
  if (rank == 0) {
    MPI_Put(&mine, 1, MPI_INT, 1, 10, 1, MPI_INT, w);
    MPI_Win_flush(1, w);
    MPI_Accumulate(&mine, 1, MPI_INT, 1, 11, 1, MPI_INT, MPI_REPLACE, w);
    MPI_Win_flush(1, w);
  } else {
    for (got = 0; got == 0; MPI_Win_flush(1, w)) {
      MPI_Fetch_and_op(NULL, &got, MPI_INT, 1, 11, MPI_NO_OP, w);
    }
    MPI_Get(&got, 1, MPI_INT, 1, 10, 1, MPI_INT, w);
  }
  MPI_Win_unlock_all(w);
  for (int i = 0; i < 8; ++i) {
    MPI_Win_fence(0, w);
    if (rank == i % 2) {
      MPI_Put(&mine, 1, MPI_INT, 0, 7, 1, MPI_INT, w);
    }
  }
  MPI_Win_fence(0, w);
  MPI_Win_free(&w);
}
static void put_changed(void) {
  int *memory, mine = rank;
  MPI_Win w = open_window(&memory);
  MPI_Win_lock(MPI_LOCK_SHARED, other(), 0, w);
  MPI_Put(&mine, 1, MPI_INT, other(), 0, 1, MPI_INT, w); /* put_changed */
  if (wrong) {
    mine = 5;
  }
  MPI_Win_unlock(other(), w);
  mine = 6;
  MPI_Win_free(&w);
}
static void two_gets(void) {
  int *memory, got;
  MPI_Win w = open_window(&memory);
  MPI_Win_fence(0, w);
  MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, w); /* two_gets */
  if (!wrong) {
    MPI_Win_fence(0, w);
  }
  MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, w);
  MPI_Win_fence(0, w);
  MPI_Win_free(&w);
}
static void got_and_sent(void) {
  int *memory, got, taken;
  MPI_Win w = open_window(&memory);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
  MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, w); /* got_and_sent */
  if (!wrong) {
    MPI_Win_flush_local(0, w);
  }
  MPI_Sendrecv(&got, 1, MPI_INT, other(), 0, &taken, 1, MPI_INT, other(), 0, all,
               MPI_STATUS_IGNORE);
  MPI_Win_unlock(0, w);
  MPI_Win_free(&w);
}

#define CASE(name, text) {#name, name, text}
static const struct {
  const char* name;
  void (*run)(void);
  const char* told; /* one of these, separated by " | "; "": the mistake is none; of leaks and
                       arguments the line is told, too */
} cases[] = {
    CASE(comm_dup, "a communicator has not been freed: MPI_Comm_dup"),
    CASE(comm_split, "a communicator has not been freed: MPI_Comm_split"),
    CASE(comm_idup, "a communicator has not been freed: MPI_Comm_idup"),
    CASE(cart_create, "a communicator has not been freed: MPI_Cart_create"),
    CASE(intercomm, "a communicator has not been freed: MPI_Intercomm_create"),
    CASE(group, "a group has not been freed: MPI_Comm_group"),
    CASE(group_incl, "a group has not been freed: MPI_Group_incl"),
    CASE(type, "a datatype has not been freed: MPI_Type_contiguous"),
    CASE(type_of_type, "a datatype has not been freed: MPI_Type_contiguous"),
    CASE(op, "an operation has not been freed: MPI_Op_create"),
    CASE(send_not_awaited, "a request has not been completed, or freed: MPI_Isend"),
    CASE(one_of_two_not_awaited, "a request has not been completed, or freed: MPI_Irecv"),
    CASE(receive_never_met, "a request has not been completed, or freed: MPI_Irecv"),
    CASE(persistent_not_freed, "a request has not been completed, or freed: MPI_Send_init"),
    CASE(window, "a window has not been freed: MPI_Win_allocate"),
    CASE(file, "a file has not been closed: MPI_File_open"),
    CASE(message_not_received, "a message has not been received: from rank 0, tag 3, 4 bytes"),
    CASE(matched_not_received, "a message has been matched, and not received: MPI_Mprobe"),
    CASE(kind, "has elements f32, its receive, MPI_Recv"),
    CASE(kind_unexpected, "has elements f64, its receive, MPI_Recv"),
    CASE(kind_of_long_message, "has elements f64, its receive, MPI_Recv"),
    CASE(kind_of_synchronous, "has elements f64, its receive, MPI_Irecv"),
    CASE(kind_of_sendrecv, "has elements f32, its receive, MPI_Sendrecv"),
    CASE(kind_of_persistent, "has elements u32, its receive, MPI_Recv_init"),
    CASE(kind_of_matched, "has elements f64, its receive, MPI_Mrecv"),
    CASE(kind_of_matched_request, "has elements f64, its receive, MPI_Imrecv"),
    CASE(kind_of_structure, "has elements of several kinds, its receive, MPI_Recv"),
    CASE(kinds_that_match, ""),
    CASE(sent_changed, "the program has changed data of MPI_Isend"),
    CASE(long_sent_changed, "the program has changed data of MPI_Issend"),
    CASE(column_changed, "the program has changed data of MPI_Isend"),
    CASE(received_changed, "the program has changed the buffer of MPI_Irecv"),
    CASE(received_sent, "memory that this call reads is in use: MPI_Irecv"),
    CASE(two_receives, "memory that this call writes is in use: MPI_Irecv"),
    CASE(buffers_shared, ""),
    CASE(persistent_changed, "the program has changed data of MPI_Send_init"),
    CASE(persistent_receive_changed, "the program has changed the buffer of MPI_Recv_init"),
    CASE(broadcast_changed, "the program has changed data of MPI_Ibcast"),
    CASE(reduction_changed, "the program has changed data of MPI_Iallreduce"),
    CASE(reduction_into_sent, "memory that this call writes is in use: MPI_Iallreduce"),
    CASE(gather_overlaps, "buffers of rank 0 overlap in MPI_Gather"),
    CASE(sendrecv_overlaps, "the two buffers overlap"),
    CASE(written_changed, "the program has changed data of MPI_File_iwrite"),
    CASE(other_collective, "rank 1 calls MPI_Allreduce, rank 0 calls MPI_Bcast"),
    CASE(other_root, "rank 1 calls MPI_Bcast with root 1"),
    CASE(other_op, "rank 1 calls MPI_Allreduce with operation"),
    CASE(other_count, "rank 1 calls MPI_Bcast with 12 bytes"),
    CASE(other_kind, "rank 1 calls MPI_Bcast with data of kind"),
    CASE(other_order,
         "rank 1 calls MPI_Ibcast, rank 0 calls MPI_Ibarrier | "
         "a rank sent more data than its partner expected"),
    CASE(bad_rank, "MPI_ERR_RANK"),
    CASE(bad_tag, "MPI_ERR_TAG"),
    CASE(bad_count, "MPI_ERR_COUNT"),
    CASE(bad_type, "MPI_ERR_TYPE"),
    CASE(bad_comm, "MPI_ERR_COMM"),
    CASE(null_buffer, "MPI_ERR_BUFFER"),
    CASE(type_not_committed, "MPI_ERR_TYPE"),
    CASE(type_freed, "MPI_ERR_TYPE"),
    CASE(comm_freed, "MPI_ERR_COMM"),
    CASE(world_freed, "MPI_ERR_COMM"),
    CASE(bad_root, "MPI_ERR_ROOT"),
    CASE(bad_op, "MPI_ERR_OP"),
    CASE(op_not_for_type, "MPI_ERR_OP"),
    CASE(truncated, "MPI_ERR_TRUNCATE"),
    CASE(started_twice, "MPI_ERR_REQUEST"),
    CASE(collective_request_freed, "MPI_ERR_REQUEST"),
    CASE(dims_too_many, "MPI_ERR_DIMS"),
    CASE(group_rank, "MPI_ERR_RANK"),
    CASE(initialised_twice, "MPI_Init: MPI is initialised already"),
    CASE(after_finalize, "MPI_Finalize has been called already"),
    CASE(put_without_epoch, "MPI_ERR_RMA_SYNC"),
    CASE(put_outside, "MPI_ERR_RMA_RANGE"),
    CASE(unlocked_twice, "MPI_ERR_RMA_SYNC"),
    CASE(two_puts, "of the window of rank 0 have no order, and both change them"),
    CASE(put_and_get, "of the window of rank 1 have no order, and one changes them"),
    CASE(put_and_accumulate, "of the window of rank 1 have no order, and both change them"),
    CASE(two_operations, "of the window of rank 0 have no order, and both change them"),
    CASE(shared_locks, "bytes 20 to 23 of the window of rank 0 have no order"),
    CASE(get_and_put_of_one_rank, "have no order, and one changes them"),
    CASE(part_of_a_row, "bytes 32 to 35 of the window of rank 0 have no order"),
    CASE(ordered_accesses, ""),
    CASE(put_changed, "the program has changed data of MPI_Put"),
    CASE(two_gets, "memory that this call writes is in use: MPI_Get"),
    CASE(got_and_sent, "memory that this call reads is in use: MPI_Get"),
};

int main(int argc, char** argv) {
  const int count = sizeof cases / sizeof cases[0];
  if (argc < 3) {
    for (int i = 0; i < count; ++i) {
      printf("%s\t%s\n", cases[i].name, cases[i].told);
    }
    return 0;
  }
  wrong = strcmp(argv[2], "wrong") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  for (int i = 0; i < count; ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) {
      cases[i].run();
    }
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) {
    MPI_Finalize();
  }
  return 0;
}
