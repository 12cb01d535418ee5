# SPDX-License-Identifier: BSD-3-Clause
"""dtFFT's transforms there and back by each of its ways of communicating, held against NumPy's;
rank 0 prints the largest errors of each."""
import dtfft
import numpy
from mpi4py import MPI

SHAPE = (12, 18, 10)
BACKENDS = ("MPI_DATATYPE", "MPI_P2P", "MPI_P2P_PIPELINED", "MPI_P2P_SCHEDULED", "MPI_P2P_FUSED",
            "MPI_A2A", "MPI_RMA", "MPI_RMA_PIPELINED", "MPI_RMA_FUSED")


def part(whole, starts, counts):
    return whole[tuple(slice(s, s + n) for s, n in zip(starts, counts))].ravel("F")


def errors(comm, backend, whole):
    """Of the transform, and of what the way back makes of it."""
    config = dtfft.Config(enable_z_slab=False, backend=getattr(dtfft.Backend, backend))
    plan = dtfft.PlanC2C(SHAPE, comm=comm, executor=dtfft.Executor.FFTW3, config=config)
    starts, counts, result_starts, result_counts, size = plan.local_sizes
    given, result = plan.get_ndarray(size), plan.get_ndarray(size)
    mine = part(whole, starts, counts)
    given[:mine.size] = mine
    plan.execute(given, result, dtfft.Execute.FORWARD)
    # In the order of Fortran; the result's last dimension comes first.
    right = part(numpy.fft.fftn(whole).transpose(2, 0, 1), result_starts, result_counts)
    there = abs(result[:right.size] - right).max()
    plan.execute(result, given, dtfft.Execute.BACKWARD)
    back = abs(given[:mine.size] / whole.size - mine).max()
    return comm.allreduce(there, MPI.MAX), comm.allreduce(back, MPI.MAX)


def main():
    comm = MPI.COMM_WORLD
    whole = numpy.random.default_rng(7).random(SHAPE) + 0j
    for backend in BACKENDS:
        try:
            there, back = errors(comm, backend, whole)
            right = there < 1e-10 and back < 1e-13
            word = "right" if right else f"wrong: {there}, {back}"
        except dtfft._dtfft.Exception as why:  # on all ranks: the wheel was built without it
            word = str(why)
        if comm.rank == 0:
            print(backend, word, flush=True)


main()
