# SPDX-License-Identifier: BSD-3-Clause
"""The documents against the tree SINEW_BUILD: commands run, links lead somewhere, and what tables
and sentences say of settings, experiments and options is what the binary has."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from pages import ROOT, pages  # noqa: E402

BUILD = Path(os.environ["SINEW_BUILD"])
SINEW = BUILD / "bin" / "sinew"

# Names that look like settings and are none: variables of the launcher, the wrappers, CMake, tests.
OTHER_NAMES = re.compile(
    r"SINEW_(\d+|PRIVATE|COARRAY_ABI|IMAGES|"
    r"CC|CXX|FC|BOOT_\w*|TEST_\w*|LTO|SANITIZE|CHECKED|CCACHE|FUZZ|BUILD|PEERS|"
    r"INSTALL_MPI_NAMES|NETWORKS|"
    r"TEST_FOLDERS|EXPECT|ASSERT|ENSURE|CHECK|LOG|OK|BYTES|FAILED|INVALID|TIMED_OUT|BUSY|NO_\w+)$")

# Options with which the tool starts itself; no user's, so no help has them.
OWN_OPTIONS = {"--measure", "--floor-probe"}

# What a newcomer types: on a tree as these pages make it, nothing but what they print is there.
FIRST_PAGES = {"README.md", "docs/start/README.md"}

# Commands that are not run as they stand, with what is run instead; None: nothing. They build or
# fetch the tree itself, or measure for minutes.
INSTEAD_ON_FIRST_PAGES = [
    (r"make [a-z].*", lambda line: "make -n " + line[5:] + " >/dev/null"),
    (r"\./bootstrap .*", lambda line: line + " --dry-run"),
    (r".*build/mpi4py/.*", lambda line: line if (BUILD / "mpi4py/key").exists() else None),
    (r".*\bsinew bench\b.*", lambda line: line + " --repeat 1 --peers none"),
]
INSTEAD = INSTEAD_ON_FIRST_PAGES[:-1] + [
    (r"cmake --workflow .*", lambda line: "cmake --list-presets=workflow"),
    (r"cmake --preset .*|cmake --build (--preset|build)\b.*", lambda line: "cmake --list-presets"),
    (r"tools/(peers|demo|mpi4py|report)\b.*", lambda line: "test -x " + line.split()[0]),
    (r"tests/tidy/tidy.py", lambda line: line + " links commands"),
    (r"module .*|apt-get install .*", lambda line: None),
    (r".*--threads-as-fibers pigz.*", lambda line: line if shutil.which("pigz") else None),
    (r".*\btests/\w+/\w+_test\.py\b.*",
     lambda line: "test -e " + re.search(r"tests/\S+\.py", line)[0]),
    (r".*\bctest\b.*", lambda line: "ctest --version >/dev/null"),
    (r".*\btools/hosts\b.*", lambda line: "tools/hosts --help >/dev/null"),
    (r".* run --host.*", lambda line: "build/bin/sinew help run >/dev/null"),
    (r".* info transports --host.*", lambda line: "build/bin/sinew help info >/dev/null"),
    (r".*\bgdb\b.*", lambda line: line if shutil.which("gdb") else None),
    (r".*\bsinew (bench compare|report)\b.*", lambda line: None),
    (r".*\bsinew bench\b.*", lambda line: short_bench(line)),
]
# What `sinew bench` is really run for; the others' lines are read by the tool, with --help.
BRIEF = {"events", "reductions", "chunks", "launch", "echo"}
# Blocks that need what this machine may lack.
NEEDED = [(r"\b(caf\.sinew|mpifort(\.sinew)?) ", lambda: shutil.which("gfortran")),
          (r"--threads-as-fibers", lambda: (BUILD / "lib/libsinew_threads.so").exists()),
          (r"\bapt-get install lammps\b",
           lambda: shutil.which("lmp") and shutil.which("hpcc"))]


def short_bench(line):
    named = set(line.split("bench", 1)[1].split())
    if not named & BRIEF or named & (experiments() - BRIEF):
        return line + " --help >/dev/null"
    return line + " --quick --repeat 1 --peers none"


def run(*words, cwd=ROOT, limit=300, **more):
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("SINEW_", "PMI"))}
    environment.update(more)
    return subprocess.run([str(w) for w in words], cwd=cwd, env=environment, text=True,
                          capture_output=True, timeout=limit, check=False,
                          stdin=subprocess.DEVNULL)


def sinew(*words):
    done = run(SINEW, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def alternatives(text):
    """a_{b,c} as a_b and a_c."""
    found = re.search(r"\{([^}]*)\}", text)
    if not found:
        return [text]
    return [t for one in found[1].split(",")
            for t in alternatives(text[: found.start()] + one + text[found.end() :])]


def commands():
    return [line.split()[0] for line in sinew("help").splitlines() if line.startswith("  ")]


def options(command):
    """Names of the command's options, each with whether it takes a value."""
    found = {}
    for line in sinew("help", command).splitlines():
        if line.startswith("  -"):
            words = line[2:].split("  ")[0].split()
            names = [w.strip(",").split("[")[0] for w in words if w.startswith("-")]
            found.update({n: len(words) > len(names) for n in names})
    return found


def experiments():
    text = sinew("help", "bench").split("Experiments (all by default):")[1].split("\nA cell")[0]
    return {line.split()[0] for line in text.splitlines() if line.strip()}


def settings():
    return {row["name"]: row for row in json.loads(sinew("info", "config", "--json"))["config"]}


class Tables(unittest.TestCase):
    def test_measuring_lists_all_options(self):
        page = next(p for p in pages() if p.name == "docs/guide/measuring.md")
        table = next(t for t in page.tables() if t[0][0] == "option")
        listed = set(re.findall(r"--[a-z][\w-]*", " ".join(row[0] for row in table)))
        self.assertEqual(listed | {"-h", "--help"}, set(options("bench")))

    def test_tables_by_experiment_name_experiments(self):
        for page in pages():
            for table in page.tables():
                if table[0][0] == "experiment":
                    for row in table[1:]:
                        named = set(re.findall(r"`([^`]+)`", row[0]))
                        self.assertLessEqual(named, experiments(), page.name)

    def test_back_ends_have_a_folder_and_a_line(self):
        rows = json.loads(sinew("info", "transports", "--json"))["transports"]
        page = (ROOT / "src/fabric/README.md").read_text()
        for row in rows:
            with self.subTest(row["name"]):
                self.assertTrue((ROOT / "src/fabric" / row["name"]).is_dir())
                self.assertIn(f"- `{row['name']}/`:", page)

    def test_settings_that_pages_name_exist(self):
        known = settings()
        for page in pages():
            for name in set(re.findall(r"\bSINEW_[A-Z0-9_]*[A-Z0-9]\b", page.text)):
                with self.subTest(page.name, name=name):
                    self.assertTrue(name in known or OTHER_NAMES.match(name),
                                    f"{page.name}: {name} is no setting")

    def test_tables_of_settings_have_their_defaults(self):
        known = settings()
        for page in pages():
            for table in page.tables():
                if "default" not in table[0]:
                    continue
                at = table[0].index("default")
                for row in table[1:]:
                    name = row[0].strip("`")
                    if name in known:
                        self.assertEqual(row[at].strip("`"), known[name]["default"],
                                         f"{page.name}: {name}")

    def test_settings_with_values_in_pages_take_them(self):
        for page in pages():
            for name, value in re.findall(r"\b(SINEW_[A-Z0-9_]+)=([\w.]+)", page.text):
                if not OTHER_NAMES.match(name):
                    done = run(SINEW, "info", "config", **{name: value})
                    self.assertEqual(done.returncode, 0, f"{page.name}: {done.stderr}")

    def test_options_in_tables_and_sentences_exist(self):
        known = {c: options(c) for c in commands()}
        everywhere = {o for each in known.values() for o in each}
        everywhere |= set(re.findall(r"--\w[\w-]*", (ROOT / "bootstrap").read_text()))
        for page in pages():
            for table in page.tables():
                if table[0][0] == "option":
                    for row in table[1:]:
                        for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", row[0]):
                            self.assertIn(option, everywhere, page.name)
            for code in page.inline_code():
                words = code.split()
                if len(words) > 1 and words[0].endswith("sinew") and words[1] in known:
                    self.check_line(words, known, page.name)

    def check_line(self, words, known, where):
        for word in words[2:]:
            if word.isupper() or (not word.startswith("-") and words[1] in ("run", "mpiexec")):
                return  # the program: what follows is its own
            if re.match(r"--?[a-z]", word):
                name = word.split("=")[0]
                if name in OWN_OPTIONS:
                    return
                self.assertIn(name, known[words[1]], f"{where}: {' '.join(words)}")
                if known[words[1]][name]:
                    return

    def test_subcommands_in_sentences_exist(self):
        known = set(commands())
        for page in pages():
            for code in page.inline_code():
                if found := re.match(r"(?:build/bin/)?sinew ([a-z][\w-]*)(\s|$)", code):
                    self.assertIn(found[1], known, f"{page.name}: {code}")


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in pages():
            for link in page.links():
                if re.match(r"\w+:", link):
                    continue
                target, _, mark = link.partition("#")
                place = (page.path.parent / target).resolve() if target else page.path
                with self.subTest(page.name, link=link):
                    self.assertTrue(place.exists(), f"{page.name}: {link}")
                    if mark:
                        marks = [m for p in pages() if p.path == place for m in p.heading_marks()]
                        self.assertIn(mark, marks, f"{page.name}: {link}")

    def test_the_guides_index_links_every_guide(self):
        guide = ROOT / "docs" / "guide"
        index = next(p for p in pages() if p.name == "docs/guide/README.md")
        linked = {link.partition("#")[0] for link in index.links()}
        for page in guide.glob("*.md"):
            if page.name != "README.md":
                self.assertIn(page.name, linked)


class Files(unittest.TestCase):
    NAME = re.compile(r"[\w./{},*-]*[\w}*](/|"
                      r"\.(cpp|hpp|c|h|S|f90|py|go|java|sh|cmake|txt|md|in|map|\*))")

    def places(self, page):
        """Where a file that a README names may be."""
        folder = page.path.parent
        name = folder.relative_to(ROOT).as_posix()
        return [folder, ROOT, ROOT / "include", ROOT / "include" / "c", ROOT / "src",
                ROOT / "include" / "sinew" / name.removeprefix("src/").split("/")[0],
                ROOT / "tests" / name.removeprefix("src/"), ROOT / "abi" / "fortran",
                *([ROOT / "tests"] if name.startswith("docs") else [])]

    def test_files_that_readmes_name_exist(self):
        for page in pages():
            if page.path.name != "README.md":
                continue
            written = {name for _, name, _ in page.blocks()}
            for code in page.inline_code():
                if not self.NAME.fullmatch(code) or code.startswith("build/") or code in written:
                    continue
                for name in alternatives(code):
                    with self.subTest(page.name, name=name):
                        self.assertTrue(any(list(p.glob(name)) or list(p.glob("*/" + name))
                                            for p in self.places(page)), f"{page.name}: {name}")


class Commands(unittest.TestCase):
    """Each page's blocks of commands, in order, in a folder that looks like a checkout."""

    def prepare(self, folder):
        for entry in ROOT.iterdir():
            if entry.name not in ("build", "out", ".git"):
                (folder / entry.name).symlink_to(entry)
        (folder / "build").symlink_to(BUILD)

    def prepare_programs(self, folder):
        """What stands for the reader's own programs and files."""
        (folder / "file").write_text("text\n" * 1000)
        hello = ROOT / "tests" / "install" / "consumer" / "hello.c"
        self.must(run(BUILD / "bin/mpicc.sinew", "-o", "program", hello, cwd=folder))

    def must(self, done):
        self.assertEqual(done.returncode, 0, f"{done.args}\n{done.stdout}\n{done.stderr}")

    def lines(self, page, block):
        if any(re.search(pattern, block) and not there() for pattern, there in NEEDED):
            return
        rules = INSTEAD_ON_FIRST_PAGES if page.name in FIRST_PAGES else INSTEAD
        for line in re.sub(r"\\\n\s*", " ", block).split("\n"):
            line = re.sub(r"\s+#.*$|^#.*$", "", line.strip().removeprefix("$ ")).strip()
            for pattern, other in rules:
                if re.fullmatch(pattern, line):
                    line = other(line)
                    break
            if line:
                yield line

    def test_blocks(self):
        for page in pages():
            blocks = list(page.blocks())
            if not any(language in ("sh", "bash", "shell", "console") for language, _, _ in blocks):
                continue
            with self.subTest(page.name), tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                self.prepare(folder)
                if page.name not in FIRST_PAGES:
                    self.prepare_programs(folder)
                if "$HOME/sinew" in page.text:  # where the page has it installed
                    self.must(run("cmake", "--install", BUILD, "--prefix", folder / "home/sinew"))
                for language, name, text in blocks:
                    if language in ("sh", "bash", "shell", "console"):
                        self.execute("\n".join(self.lines(page, text)), folder)
                    elif name is not None:
                        (folder / name).unlink(missing_ok=True)
                        (folder / name).write_text(text)

    def execute(self, script, folder):
        done = run("bash", "-e", "-u", "-o", "pipefail", "-c", script, cwd=folder,
                   HOME=str(folder / "home"))
        self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr}")

    def test_blocks_that_need_hosts_say_so(self):
        for page in pages():
            for found, before in page.blocks_and_paragraphs():
                if re.search(r"--host(s|file) ", found[2]) and found[1] == "sh":
                    if "tools/hosts up" in found[2]:
                        self.assertTrue(found[2].endswith("tools/hosts down\n"), found[2])
                    else:
                        self.assertRegex(before, r"hosts\s+of\s+your\s+own", found[2])


if __name__ == "__main__":
    unittest.main()
