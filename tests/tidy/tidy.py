#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tidy: reads the tree and complains. Standard library only.

usage: tidy.py [--root DIR] [--build DIR] [RULE...]
Prints file:line: sentence (rule) for each fault; exit status 1 if there is one.
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import rules  # noqa: E402


def faults(tree, names=()):
    for rule in rules.ALL:
        if not names or rule.__name__ in names:
            for path, line, sentence in rule(tree):
                yield f"{path}:{line}: {sentence} ({rule.__name__})"


def main():
    parser = argparse.ArgumentParser(description="Checks the rules of the code base.")
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2])
    parser.add_argument("--build", help="a configured build tree, to know what is compiled")
    parser.add_argument("rule", nargs="*", help=", ".join(r.__name__ for r in rules.ALL))
    options = parser.parse_args()
    unknown = set(options.rule) - {r.__name__ for r in rules.ALL}
    if unknown:
        parser.error(f"no such rule: {', '.join(sorted(unknown))}")
    tree = rules.Tree(options.root, options.build)
    found = sorted(set(faults(tree, options.rule)))
    for one in found:
        print(one)
    print(f"tidy: {len(tree.text)} files, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
