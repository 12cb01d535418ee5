# SPDX-License-Identifier: BSD-3-Clause
"""What libsinew.so holds, no other of our libraries holds; and none of them calls by accident what
libsinew_threads.so or libsinew_clock.so replaces.

one_copy_test.py NM libsinew_clock.so libsinew.so libmpi_abi.so
                 [libcaf_sinew.so libsinew_threads.so]
"""

import subprocess
import sys

# Set-up talks to the launcher, before there are fibers; and mutexes for a few instructions work
# under fibers as well. sched_yield, syscall, poll and nanosleep must not be here
# (abi/c/own_calls.cpp).
MAY_BE_REPLACED = {
    "accept4", "connect", "fcntl", "read", "recv", "recvmsg", "send", "sendmsg", "write",
    "ftrylockfile", "funlockfile", "clock_gettime", "getrusage",  # which are passed on
    "close", "dup2", "dup3", "fclose", "pclose", "setsockopt",  # likewise, and noted
    "sigaction", "signal",  # of faults, which are passed on
    # The helper thread's, which asks for a kernel's thread where there are fibers.
    "pthread_create", "pthread_join",
    "waitpid",  # of the launcher that a spawn has started; fibers go on meanwhile
    "pthread_cond_clockwait", "pthread_cond_wait", "pthread_mutex_lock",
    "pthread_mutex_trylock", "pthread_mutex_unlock",
}


# The system's time is read past libsinew_clock.so (detail::system_now_ns), which then has
# sinew_clock_real; processor time it passes on. The helper thread, which waits with a time-out,
# does not run in simulated jobs.
MAY_SEE_VIRTUAL_TIME = {"clock_gettime", "pthread_cond_clockwait", "sinew_clock_follow",
                        "sinew_clock_real"}


def symbols(nm, library, *options):
    """(kind, name) pairs."""
    listing = subprocess.run([nm, *options, library], check=True, capture_output=True,
                             text=True).stdout
    return {(fields[-2], fields[-1].split("@")[0])
            for fields in map(str.split, listing.splitlines()) if len(fields) >= 2}


def variables(nm, library):
    return {name for kind, name in symbols(nm, library, "--defined-only")
            if kind in "bBdD" and "5sinew" in name and not name.startswith(("_ZT", "DW.ref."))}


def main(nm, clock, shared, *others):
    held = variables(nm, shared)
    faults = []
    if not any("settings_list" in name for name in held | {n for _, n in symbols(nm, shared)}):
        faults.append("libsinew.so does not hold the table of settings")
    if not any("process_hub" in name for name in held):
        faults.append("libsinew.so does not hold the scheduler")
    for library in others:
        twice = sorted(held & variables(nm, library))
        faults += [f"{library} has a copy of {name}" for name in twice]
    replaced = {n for _, n in symbols(nm, others[-1], "-D", "--defined-only")}
    if len(others) > 1:
        for name in ("pthread_create", "pthread_mutex_lock", "sem_wait", "syscall", "read"):
            if name not in replaced:
                faults.append(f"{others[-1]} does not replace {name}")
        for library in (shared, *others[:-1]):
            called = {n for _, n in symbols(nm, library, "-D", "--undefined-only")}
            faults += [f"{library} calls {name}, which libsinew_threads.so replaces"
                       for name in sorted((called & replaced) - MAY_BE_REPLACED)]
    shown = {n for _, n in symbols(nm, clock, "-D", "--defined-only")}
    for name in ("clock_gettime", "time", "nanosleep", "poll", "sinew_clock_real"):
        if name not in shown:
            faults.append(f"{clock} does not replace {name}")
    for library in (shared, others[0]):
        called = {n for _, n in symbols(nm, library, "-D", "--undefined-only")}
        faults += [f"{library} calls {name}, which libsinew_clock.so replaces"
                   for name in sorted((called & shown) - MAY_SEE_VIRTUAL_TIME)]
    print("\n".join(faults) or f"{len(held)} variables, in one library each")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
