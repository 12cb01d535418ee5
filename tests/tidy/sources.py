# SPDX-License-Identifier: BSD-3-Clause
"""Reading C and C++ well enough for tidy: comments, strings, functions. No compiler involved."""

import re

# One token that hides text: a comment, a raw string, a string, or a character. A quote after a
# digit is a digit separator (1'000), not a character.
HIDING = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"([^()\\\s]*)\(.*?\)\1"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def blank(match):
    """Replaces hidden text by as many lines of nothing, so that line numbers stay."""
    text = match.group(0)
    return ("" if text.startswith("/") else '""') + "\n" * text.count("\n")


def bare(text):
    """The text without comments, strings and preprocessor lines; line numbers stay."""
    text = HIDING.sub(blank, text)
    return DIRECTIVE.sub(lambda m: "\n" * m.group(0).count("\n"), text)


def includes(text):
    """(line, quote, name) of each #include outside comments."""
    without = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.DOTALL)
    for match in INCLUDE.finditer(without):
        yield without.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def call_at(text, begin):
    """What stands between the bracket that ends at `begin` and the one that closes it."""
    depth, at = 1, begin
    while depth > 0 and at < len(text):
        hidden = HIDING.match(text, at)
        if hidden:
            at = hidden.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[begin:at]


def without_nesting(statement, opening, closing):
    """Removes bracketed parts, keeping the outermost brackets themselves."""
    depth, kept = 0, []
    for c in statement:
        if c == closing and depth > 0:
            depth -= 1
        if depth == 0:
            kept.append(c)
        if c == opening:
            depth += 1
    return "".join(kept)


def kind_of(statement):
    """What the brace after this statement opens: 'scope', 'function' or 'data'."""
    flat = without_nesting(statement.strip(), "(", ")")
    flat = re.sub(r"\boperator\s*[^\s(\w]+", "operator", flat)
    while (smaller := re.sub(r"<[^<>]*>", "", flat)) != flat:
        flat = smaller
    if "()" in flat and "=" not in flat.split("()")[0]:
        attribute = re.fullmatch(r"(class|struct|union|enum).*\balignas\(\)[^()]*", flat, re.DOTALL)
        return "scope" if attribute else "function"
    return "scope" if SCOPE.search(flat) else "data"


def functions(text):
    """(first line, name, number of lines) of each function body at namespace or class scope."""
    code = bare(text)
    stack = []  # kinds of the open braces
    start = None  # where the statement at hand begins
    begun = 0  # where the function at hand begins
    signature = ""
    for at, c in enumerate(code):
        if c == "{":
            inside = "function" in stack or "data" in stack
            statement = code[start:at] if start is not None else ""
            kind = "data" if inside else kind_of(statement)
            if kind == "function":
                begun, signature = start, statement
            stack.append(kind)
            start = None
        elif c == "}":
            if stack and stack.pop() == "function":
                first = code.count("\n", 0, begun) + 1
                name = re.findall(r"(operator\s*[^\s\w(]+|[~\w:]+)\s*\(", signature)
                yield first, name[0] if name else "?", code.count("\n", begun, at) + 1
            start = None
        elif c == ";":
            start = None
        elif start is None and not c.isspace():
            start = at
