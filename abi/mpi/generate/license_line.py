# SPDX-License-Identifier: BSD-3-Clause
"""The first line of each generated source, for all three generators."""

IDENTIFIER = "SPDX-License-Identifier: BSD-3-Clause"


def first_line(name, text):
    if name.endswith((".cpp", ".hpp")):
        return f"// {IDENTIFIER}\n"
    if name.endswith(".f90") or text.startswith("!"):
        return f"! {IDENTIFIER}\n"
    return f"/* {IDENTIFIER} */\n" if name.endswith(".h") else ""


def licensed(made):
    return {path: first_line(str(path), text) + text for path, text in made.items()}
