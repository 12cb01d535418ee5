# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's own tests of Debian's library, by the comments in which its sources say how they are
run: those that have several ranks and ask for nothing beside."""
import re
import shlex

from case import Case

FOLDERS = ("vec/is", "vec/vec/tests", "mat/tutorials", "ksp/ksp/tutorials", "snes/tutorials")
# On Open MPI, too, the preconditioner of the first differs from run to run.
DIFFERS = {"ksp-ksp-tutorials-ex45-1"}


def tests_of(source):
    """What their comments say of each, as names and words."""
    block = re.search(r"/\*TEST(.*?)TEST\*/", source.read_text(errors="replace"), re.S)
    if not block or "build:" in block[1]:
        return
    for text in re.split(r"(?m)^   (?=test)", block[1])[1:]:
        words = dict(re.findall(r"(?m)^      (\w+):\s*(.*)$", text))
        if (text.startswith("test:") and "{{" not in text and "draw" not in text
                and set(words) <= {"nsize", "args", "suffix", "output_file"}
                and 1 < int(words.get("nsize", "1")) <= 4):
            yield words


def printed(text):
    """All that a test prints, without what Open MPI says of networks."""
    return [" ".join(line.split()) for line in text.split("\n")
            if line.strip() and not re.match(r"\[\S+:\d+\] mca_", line)]


def cases(place):
    examples = place.root / "usr/share/petsc/3.18/share/petsc/examples/src"
    (library,) = (place.root / "usr/lib/petscdir/petsc3.18").glob("*-real")
    for source in sorted(path for each in FOLDERS for path in (examples / each).rglob("*.c")):
        name = str(source.relative_to(examples).with_suffix("")).replace("/", "-")
        for words in tests_of(source):
            which = f"{name}-{words.get('suffix', '1')}"
            if which in DIFFERS:
                continue
            build = ["cc", "-w", f"-I{library}/include", "-I", place.include("openmpi"), source,
                     "-o", "check", f"-L{library}/lib", "-lpetsc_real", place.lib / "libmpi.so.40",
                     "-lm", "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
            yield Case(f"petsc-{which}", "openmpi",
                       ["./check", *shlex.split(words.get("args", ""))], printed,
                       ranks=int(words["nsize"]), limit=60, prepare=build,
                       least=0)  # some say all by their exit code
