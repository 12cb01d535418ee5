# SPDX-License-Identifier: BSD-3-Clause
"""Peers that `sinew bench` finds when it runs: Go, where its compiler is; a library that pkg-config
knows, from a pkg-config made here; one that CMake knows, from a package made here.

peers_test.py SINEW
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SINEW = sys.argv[1]


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def bench(self, peers, *, experiment="threads", tool=SINEW, **environment):
        path = os.path.join(self.folder.name, "out.json")
        done = subprocess.run([tool, "bench", experiment, "--quick", "--repeat", "1", "--peers",
                               peers, "--json", path], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **environment}, check=False)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        with open(path, encoding="utf-8") as file:
            return json.load(file), done.stdout + done.stderr

    @unittest.skipUnless(shutil.which("go"), "no go")
    def test_goroutines(self):
        all_of_it, _ = self.bench("go", HOME=os.environ.get("HOME", self.folder.name))
        found = {(r["case"], r["params"]["fibers"]) for r in all_of_it["results"]
                 if r["subject"] == "go"}
        self.assertEqual({("yield", 2), ("yield", 64), ("yield", 1024), ("spawn-join", 1),
                          ("signal", 64), ("round-trip", 2)}, found)
        self.assertRegex(all_of_it["host"]["peers"]["go"], r"^(go)?\d+\.\d+")

    def test_a_library_of_pkg_config(self):
        """It is found, and what its flags lead to is compiled: here a header that refuses."""
        with open(os.path.join(self.folder.name, "pkg-config"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\ncase $* in\n*--modversion*argobots) echo 9.9 ;;\n"
                       "*--cflags*argobots) echo -I" + self.folder.name + " ;;\n"
                       "*) exit 1 ;;\nesac\n")
        os.chmod(file.name, 0o755)
        with open(os.path.join(self.folder.name, "abt.h"), "w", encoding="ascii") as file:
            file.write("#error this is the header that was named\n")
        all_of_it, said = self.bench("argobots", PATH=self.folder.name + ":" + os.environ["PATH"])
        self.assertEqual("9.9", all_of_it["host"]["peers"]["argobots"])
        self.assertIn("argobots: failed: cannot compile argobots.cpp", said)

    def test_what_is_not_here_is_said(self):
        with open(os.path.join(self.folder.name, "pkg-config"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(file.name, 0o755)
        all_of_it, said = self.bench("argobots", tool=self.tree_without_ranks("threads"),
                                     PATH=self.folder.name + ":" + os.environ["PATH"])
        self.assertIn("argobots: not here: pkg-config knows no argobots", said)
        self.assertEqual({"argobots": "pkg-config knows no argobots"}, all_of_it["run"]["absent"])
        self.assertNotIn("argobots", all_of_it["host"]["peers"])

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("c++"), "no cmake, or no c++")
    def test_a_library_of_cmake(self):
        """A package made here: Realm's events as far as the program uses them, done at once."""
        folder = os.path.join(self.folder.name, "lib", "cmake", "Realm")
        os.makedirs(folder)
        for name, text in (("RealmConfig.cmake", REALM_CONFIG), ("realm.h", REALM_HEADER),
                           ("RealmConfigVersion.cmake", 'set(PACKAGE_VERSION "9.9")\n')):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        tree = self.tree_without_ranks("events", "event-throughput", "locks", "reductions")
        for experiment, row in (("events", ("chain", "latency")),
                                ("event-throughput", ("fan", "rate")),
                                ("locks", ("chains", "rate")), ("reductions", ("sparse", "rate"))):
            all_of_it, said = self.bench("realm", experiment=experiment, tool=tree,
                                         CMAKE_PREFIX_PATH=self.folder.name,
                                         XDG_CACHE_HOME=self.folder.name)
            self.assertEqual("9.9", all_of_it["host"]["peers"]["realm"])
            found = [r for r in all_of_it["results"] if r["subject"] == "realm"]
            self.assertIn(row, {(r["case"], r["metric"]) for r in found}, said)
            self.assertEqual({1}, {r["params"]["ranks"] for r in found})

    def tree_without_ranks(self, *experiments):
        """The tool in a tree whose programs print nothing: ours would keep all processors busy."""
        tree = os.path.join(self.folder.name, "tree")
        programs = os.path.join(tree, "libexec", "sinew")
        os.makedirs(programs)
        os.makedirs(os.path.join(tree, "bin"))
        os.makedirs(os.path.join(tree, "share", "sinew"))
        bench = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
        os.symlink(os.path.abspath(bench), os.path.join(tree, "share", "sinew", "bench"))
        for name in experiments:
            os.symlink("/bin/true", os.path.join(programs, "bench-" + name))
        return shutil.copy2(SINEW, os.path.join(tree, "bin", "sinew"))


REALM_CONFIG = """
add_library(Realm::Realm INTERFACE IMPORTED)
set_target_properties(Realm::Realm PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
  "${CMAKE_CURRENT_LIST_DIR}")
"""
# What the programs use of Realm, done at once: instances are vectors, copies are loops.
REALM_HEADER = """
#include <cstdint>
#include <map>
#include <vector>
namespace Realm {
struct Event {
  static const Event NO_EVENT;
  void external_wait() const {}
  static Event merge_events(const std::vector<Event>&) { return {}; }
};
inline const Event Event::NO_EVENT{};
struct UserEvent : Event {
  static UserEvent create_user_event() { return {}; }
  void trigger(Event = {}) const {}
};
struct Reservation {
  static Reservation create_reservation() { return {}; }
  Event acquire(unsigned = 0, bool = true, Event = {}) const { return {}; }
  void release(Event = {}) const {}
  void destroy_reservation(Event = {}) {}
};
struct Memory { enum Kind { SYSTEM_MEM }; };
struct Machine {
  static Machine get_machine() { return {}; }
  struct MemoryQuery {
    explicit MemoryQuery(Machine) {}
    MemoryQuery& only_kind(Memory::Kind) { return *this; }
    Memory first() const { return {}; }
  };
};
using FieldID = int;
using ReductionOpID = int;
struct ProfilingRequestSet {};
template <int N, typename T = int> struct Point { explicit Point(T v) : x(v) {} T x; };
template <int N, typename T = int> struct Rect {
  Rect(Point<N, T> low, Point<N, T> high) : size(high.x - low.x + 1) {}
  T size;
};
template <int N, typename T = int> struct IndexSpace;
struct RegionInstance {
  std::vector<std::uint32_t>* values = nullptr;
  static Event create_instance(RegionInstance& made, Memory, const IndexSpace<1>& space,
                               const std::map<FieldID, std::size_t>&, std::size_t,
                               const ProfilingRequestSet&, Event = {});
  void destroy(Event = {}) const { delete values; }
};
template <typename F, int N, typename T = int> struct AffineAccessor {
  AffineAccessor(RegionInstance of, FieldID) : of_(of) {}
  F* ptr(Point<N, T> at) const { return of_.values->data() + at.x; }
  RegionInstance of_;
};
struct CopySrcDstField {
  RegionInstance of;
  bool reduces = false;
  std::uint32_t value = 0;
  CopySrcDstField& set_field(RegionInstance i, FieldID, std::size_t) { of = i; return *this; }
  CopySrcDstField& set_redop(ReductionOpID, bool, bool = false) { reduces = true; return *this; }
  template <typename V> CopySrcDstField& set_fill(V v) { value = v; return *this; }
};
template <int N, typename T> struct IndexSpace {
  explicit IndexSpace(Rect<N, T> all) : size(all.size) {}
  Event copy(const std::vector<CopySrcDstField>& from, const std::vector<CopySrcDstField>& to,
             const ProfilingRequestSet&, Event = {}) const {
    for (T i = 0; i < size; ++i) {
      const std::uint32_t v = from[0].of.values ? (*from[0].of.values)[i] : from[0].value;
      std::uint32_t& there = (*to[0].of.values)[i];
      there = to[0].reduces ? there + v : v;
    }
    return {};
  }
  T size;
};
inline Event RegionInstance::create_instance(
    RegionInstance& made, Memory, const IndexSpace<1>& space,
    const std::map<FieldID, std::size_t>&, std::size_t, const ProfilingRequestSet&, Event) {
  made.values = new std::vector<std::uint32_t>(space.size);
  return {};
}
struct Runtime {
  bool init(int*, char***) { return true; }
  template <typename Op> bool register_reduction(ReductionOpID) { return true; }
  void shutdown() {}
  int wait_for_shutdown() { return 0; }
};
}
"""

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
