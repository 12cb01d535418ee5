# SPDX-License-Identifier: BSD-3-Clause
"""tidy must find planted faults, and only those."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import rules  # noqa: E402
import sources  # noqa: E402
import tidy  # noqa: E402

HEADER = "#pragma once\n#include <vector>\nint f();\n"
TABLE = "# Architecture\n| 0 | `base` | x | |\n" \
    "| 2 | [core](src/core/README.md) | x | base match |\n"
SOUND = {
    "Makefile": "help: ## list\nbuild: ## build\n",
    "bootstrap": "--dev\n",
    "CMakePresets.json": '{"configurePresets": [{"name": "release"}]}',
    "README.md": "[design](ARCHITECTURE.md)\n\n```sh\nmake build\n./bootstrap --dev\n```\n",
    "ARCHITECTURE.md": "Modules.\n",
    "cmake/layers.txt": "# layer module: uses\n0 base:\n1 match: base\n2 core: base match\n",
    "include/sinew/base/a.hpp": HEADER,
    "include/sinew/core/b.hpp": '#pragma once\n#include "sinew/base/a.hpp"\n',
    "src/base/CMakeLists.txt": "sinew_module(base)\n",
    "src/base/README.md": "# base\n",
    "src/base/a.cpp": '#include "sinew/base/a.hpp"\nint f() { return 1\'000; }\n',
    "src/core/CMakeLists.txt": "sinew_module(core)\n",
    "src/core/README.md": "# core\n",
    "src/core/b.cpp": '#include "sinew/core/b.hpp"\n#include "core/p.hpp"\n',
    "src/core/p.hpp": "#pragma once\n",
    "tests/base/a_test.cpp": '#include "sinew/base/a.hpp"\n',
    "tools/sinew/CMakeLists.txt": "add_executable(sinew main.cpp)\n",
    "tools/sinew/README.md": "# sinew\n",
    "tools/sinew/main.cpp": 'const char* commands[] = {"run"};\n',
}


class Planted(unittest.TestCase):
    def faults(self, changes=None, build=None):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**SOUND, **(changes or {})}.items():
                if text is not None:
                    file = Path(folder, path)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text)
            if build is not None:
                place = Path(folder, "build")
                place.mkdir()
                commands = [{"directory": folder, "file": f} for f in build]
                Path(place, "compile_commands.json").write_text(json.dumps(commands))
                build = place
            return sorted(tidy.faults(rules.Tree(folder, build)))

    def expect(self, changes, *parts, build=None):
        found = self.faults(changes, build)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_a_sound_tree_has_no_faults(self):
        self.assertEqual(self.faults(), [])

    def test_looking_up_a_layer(self):
        text = '#include "sinew/base/a.hpp"\n#include "sinew/core/b.hpp"\nint f() { return 1; }\n'
        self.expect({"src/base/a.cpp": text}, "src/base/a.cpp:2:", "base may not use core")

    def test_an_include_in_a_comment_is_none(self):
        text = '#include "sinew/base/a.hpp"\n/*\n#include "sinew/core/b.hpp"\n*/\n'
        self.assertEqual(self.faults({"src/base/a.cpp": text}), [])

    def test_a_neighbour_of_the_same_layer(self):
        layers = {"base": (0, []), "a": (1, ["base"]), "b": (1, ["base"]), "c": (2, ["a"])}
        self.assertNotIn("b", rules.reach("a", layers))
        self.assertIn("base", rules.reach("c", layers))

    def test_a_module_uses_its_own_layer(self):
        text = SOUND["cmake/layers.txt"] + "2 coll: core\n"
        self.expect({"cmake/layers.txt": text}, "coll uses core, which is in no lower layer")

    def test_architecture_says_another_layer(self):
        rows = [(0, "base", ""), (1, "match", " base"), (2, "core", " base")]
        table = "# Architecture\n" + "".join(
            f"| {n} | [{name}](src/{name}/README.md) | what |{uses} |\n" for n, name, uses in rows)
        files = {"ARCHITECTURE.md": table, "src/match/README.md": "# match\n",
                 "tests/core/b_test.cpp": "", "tests/match/a_test.cpp": "",
                 "src/match/CMakeLists.txt": "sinew_module(match)\n"}
        self.expect(files, "the row of core is not that of cmake/layers.txt")

    def test_private_header_of_another_module(self):
        text = '#include "core/p.hpp"\n'
        self.expect({"tools/sinew/main.cpp": text + SOUND["tools/sinew/main.cpp"]}, "private")

    def test_a_wait_that_nobody_reports(self):
        head = SOUND["src/core/b.cpp"] + "#include <thread>\n"
        for wait in (
            "sched_yield();",
            "base::futex_wait(word, 1);",
            "fiber::yield();",
            "::pause();",
            "while (!done) { runtime.poll(); }",
            "while (!done) {\n  (void)the.runtime->poll();\n}",
            "sleep_ns(pause);",
        ):
            with self.subTest(wait):
                self.expect({"src/core/b.cpp": head + f"void f() {{ {wait} }}\n"}, "hang", "b.cpp:")
                said = head + f"// Wait: for the end.\nvoid f() {{ {wait} }}\n"
                self.assertEqual(self.faults({"src/core/b.cpp": said}), [])
        comment = head + "// sched_yield() is not called\n"
        self.assertEqual(self.faults({"src/core/b.cpp": comment}), [])

    def test_the_systems_time_is_bases_alone(self):
        read = "#include <random>\nint g() { return std::random_device()(); }\n"
        self.expect({"src/core/b.cpp": SOUND["src/core/b.cpp"] + read}, "src/core/b.cpp:4: ",
                    "random_device is the system's own")
        self.assertEqual(self.faults({"src/base/a.cpp": SOUND["src/base/a.cpp"] + read}), [])

    def test_sentences_end_once(self):
        head = SOUND["src/base/a.cpp"]
        for call in ('SINEW_CHECK(g(1), "it is (so)", "why.", "");',
                     'throw error("a", f(), "b c.");', 'fprintf(stderr, "it %s is\\n", x);',
                     'words().add("a").add("it is\\n");'):
            with self.subTest(call):
                self.expect({"src/base/a.cpp": head + f"void g() {{ {call} }}\n"}, "full stop",
                            "a.cpp:")
        for call in ('SINEW_CHECK(g(1), "it is (so)", "why", "");',
                     'throw error("a", f("."), "b");', 'fprintf(stderr, "%s: %s\\n", x, y);',
                     'words().add("it is.\\n");',
                     'words().add("\\n");'):
            with self.subTest(call):
                sound = {"src/base/a.cpp": head + f"void g() {{ {call} }}\n"}
                self.assertEqual(self.faults(sound), [])

    def test_a_page_that_shows_another_file(self):
        page = "<!-- file: src/base/a.cpp -->\n```cpp\n%s```\n"
        sound = {"docs/a.md": page % SOUND["src/base/a.cpp"]}
        self.assertEqual(self.faults(sound), [])
        self.expect({"docs/a.md": page % "int f();\n"}, "docs/a.md:3:", "src/base/a.cpp")

    def test_a_source_without_its_license(self):
        line = "SPDX-License-Identifier: BSD-3-Clause\n"
        marks = {".py": "# ", ".txt": "# ", "": "# "}
        sound = {path: marks.get(Path(path).suffix, "// ") + line + text
                 for path, text in SOUND.items() if path.endswith(rules.LICENSED)}
        sound |= {"LICENSE": "BSD\n", "tools/run": "#!/bin/sh\n# " + line,
                  "examples/a.f90": "! " + line, "include/c/a.h": f"/* {line.strip()} */\n"}
        self.assertEqual(self.faults(sound), [])
        for path in ("src/base/a.cpp", "src/core/CMakeLists.txt", "tools/run", "examples/a.f90"):
            with self.subTest(path):
                self.expect(sound | {path: sound[path].replace("BSD-3", "MIT")}, f"{path}:1:",
                            "SPDX")

    def test_unknown_module(self):
        files = {"src/attic/README.md": "# attic\n", "src/attic/CMakeLists.txt": ""}
        files["src/attic/x.cpp"] = ""
        self.expect(files, "the module attic has no line in cmake/layers.txt")

    def test_public_header_with_a_system_include(self):
        text = HEADER.replace("<vector>", "<pthread.h>")
        self.expect({"include/sinew/base/a.hpp": text}, "a.hpp:2:", "<pthread.h>")

    def test_public_header_without_guard(self):
        self.expect({"include/sinew/base/a.hpp": "int f();\n"}, "#pragma once")

    def test_long_file(self):
        text = SOUND["src/base/a.cpp"] + "int g();\n" * 999
        self.expect({"src/base/a.cpp": text}, "1001 lines")

    def test_generated_files_may_be_long(self):
        text = "// Generated by bindings.py\n" + SOUND["src/base/a.cpp"] + "int g();\n" * 1000
        self.assertEqual(self.faults({"src/base/a.cpp": text}), [])

    def test_long_line(self):
        self.expect({"src/base/a.cpp": SOUND["src/base/a.cpp"] + "//" + "x" * 99}, "101 columns")

    def test_long_function(self):
        text = SOUND["src/base/a.cpp"] + "int h(int x) {\n" + "  ++x;\n" * 69 + "  return x;\n}\n"
        self.expect({"src/base/a.cpp": text}, "a.cpp:3:", "h has 72 lines")

    def test_long_python_function(self):
        text = "def f():\n" + "    pass\n" * 70
        self.expect({"tests/tidy/x.py": text}, "f has 71 lines")

    def test_path_of_a_machine(self):
        self.expect({"ARCHITECTURE.md": "in /wo" "rk/main\n"}, "a path of one machine")

    def test_hosts(self):
        self.expect({"ARCHITECTURE.md": "at https" "://packages.example.com/x\n"}, "the host")

    def test_undone_work_needs_a_sentence(self):
        source = SOUND["src/base/a.cpp"]
        self.expect({"src/base/a.cpp": source + "// TO" "DO: later\n"}, "without a sentence")
        self.expect({"src/base/a.cpp": source + "// FIX" "ME\n"}, "without a sentence")
        reasoned = "// TO" "DO: batch these once the pool can hand out runs of packets\n"
        self.assertEqual(self.faults({"src/base/a.cpp": source + reasoned}), [])

    def test_source_no_target_compiles(self):
        compiled = [p for p in SOUND if p.endswith(".cpp")]
        self.assertEqual(self.faults(build=compiled), [])
        compiled.remove("src/core/b.cpp")
        self.expect({}, "src/core/b.cpp", "no target compiles", build=compiled)

    def test_test_without_a_rule(self):
        self.expect({"tests/lost/x_test.cpp": ""}, "tests/lost/x_test.cpp", "nothing names")

    def test_header_nobody_includes(self):
        self.expect({"src/base/lonely.hpp": "#pragma once\n"}, "no file includes")

    def test_standard_header_that_is_missing(self):
        source = SOUND["src/base/a.cpp"]
        used = source + "int g(std::vector<int> v) { return std::max(v[0], 1); }\n"
        self.expect({"src/base/a.cpp": used}, "src/base/a.cpp:3:", "std::max", "<algorithm>")
        self.assertEqual(self.faults({"src/base/a.cpp": "#include <algorithm>\n" + used}), [])

    def test_module_without_readme(self):
        self.expect({"src/core/README.md": None}, "has no README.md")

    def test_long_readme(self):
        self.expect({"src/core/README.md": "x\n" * 41}, "at most 40 lines")

    def test_part_without_a_row(self):
        self.assertEqual(self.faults({"ARCHITECTURE.md": TABLE, "tests/core/b_test.cpp": ""}), [])
        files = {"ARCHITECTURE.md": TABLE, "tests/core/b_test.cpp": "",
                 "abi/c/CMakeLists.txt": "", "abi/c/README.md": "# c\n"}
        self.expect(files, "ARCHITECTURE.md:1:", "row of abi/c")

    def test_room_without_unit_tests(self):
        self.expect({"ARCHITECTURE.md": TABLE}, "tests/core has no unit tests")

    def test_dead_link(self):
        self.expect({"ARCHITECTURE.md": "x\n[y](docs/none.md#z)\n"}, "ARCHITECTURE.md:2:")

    def test_commands_that_do_not_exist(self):
        for line in ("make biuld", "cmake --preset relase", "build/bin/sinew rnu -n 2 x",
                     "./bootstrap --all", "tools/nothing", "cd x && make none"):
            with self.subTest(line):
                page = f"text\n\n```sh\nmake help\n{line}\n```\n"
                self.expect({"ARCHITECTURE.md": page}, "ARCHITECTURE.md:5:")

    def test_commands_that_exist(self):
        page = "```sh\nmake build && build/bin/sinew run -n 2 ./x  # sinew nothing\n```\n"
        self.assertEqual(self.faults({"ARCHITECTURE.md": page}), [])


class Functions(unittest.TestCase):
    def found(self, text):
        return [(name, lines) for _, name, lines in sources.functions(text)]

    def test_kinds_of_braces(self):
        text = """
namespace a { class b : c { int x = {3}; b() : x_{1}, y_(2) {
  } bool operator==(const b&) const { return true; } }; }
extern "C" { void d(int e = 3) noexcept { if (e) { f(); } } }
const int table[] = {g(1), g(2)};
auto name = [](int) { return 3; };
template <class T = int> std::vector<T> h() {
  const char* s = "}{"; char c = '{'; /* { */ auto r = R"x( } )x"; int n = 1'000'000;
}
enum class k { l };
#define BRACES {
"""
        names = [name for name, _ in self.found(text)]
        # A constructor's braced initialisers are cut off as functions of their own: harmless.
        self.assertEqual(names[-3:], ["operator==", "d", "h"])

    def test_lengths(self):
        self.assertEqual(self.found("int f(\n    int a) {\n  return a;\n}\n"), [("f", 4)])
        self.assertEqual(self.found("struct s {\n  int g() {\n    return 1;\n  }\n};"), [("g", 3)])


if __name__ == "__main__":
    unittest.main()
