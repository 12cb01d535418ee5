// SPDX-License-Identifier: BSD-3-Clause
// trip.h for measuring programs in Fortran, which are compiled together with this file.
#include "trip.h"

void bench_trip_make(int whose[2]);
int bench_trip_join(const int whose[2]);
void bench_trip_agree(int works);
double bench_trip_measure(int which);

void bench_trip_make(int whose[2]) { trip_make(whose); }
int bench_trip_join(const int whose[2]) { return trip_join(whose); }
void bench_trip_agree(int works) { trip_agree(works); }
double bench_trip_measure(int which) { return trip_measure(which); }
