"""include/c/mpi.h: types, constants and prototypes of the MPI-5.0 standard ABI."""

import model

INTRODUCTION = """\
/* MPI-5.0, standard ABI 1.0: the same values and layouts in every library that follows it.
 * Usable from C99 and C++. Made by abi/mpi/generate; do not edit. */
#ifndef SINEW_MPI_H
#define SINEW_MPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
"""

TYPES = """\
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

typedef struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;
"""

FORMER_NAMES = """\
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;
"""

HANDLES = ("Op Comm Group Win File Session Message Info Errhandler Request Datatype T_enum "
           "T_cvar_handle T_pvar_handle T_pvar_session T_event_registration "
           "T_event_instance").split()

NAMED_ENUMS = {"tool callback safety": "MPI_T_cb_safety",
               "tool source order": "MPI_T_source_order"}


def _integers(title, entries):
    """Macros for what the preprocessor may be asked about, enumerators for the rest."""
    lines = [f"/* {title} */"]
    if title == "limits and versions":
        return lines + [f"#define {name} {value}" for name, value in entries]
    tag = NAMED_ENUMS.get(title)
    lines.append(f"typedef enum {tag} {{" if tag else "enum {")
    lines += [f"  {name} = {value}," for name, value in entries[:-1]]
    lines.append("  {} = {}".format(*entries[-1]))
    lines.append(f"}} {tag};" if tag else "};")
    return lines


def _constants(sections, kinds, late):
    """`late`: the special addresses of callback types, which come after those types."""
    lines = []
    for kind, title, entries in sections:
        if kind not in kinds or late != title.endswith("function*") | title.endswith("_c*"):
            continue
        if kind == "integers":
            lines += _integers(title, entries)
        elif kind == "alias":
            lines += [f"#define {name} MPI_{value}" for name, value in entries]
        else:
            lines += [f"#define {name} (({title}){value})" for name, value in entries]
        lines.append("")
    return lines


def wrap(text, width=100):
    """Breaks a declaration after commas."""
    lines = []
    while len(text) > width:
        cut = text.rfind(", ", 0, width)
        if cut < 0:
            break
        lines.append(text[:cut + 1])
        text = "    " + text[cut + 2:]
    return lines + [text]


def prototypes(procedures):
    lines = []
    for procedure in procedures:
        for function in (procedure.small, procedure.large):
            if function:
                for prefix in ("", "P"):
                    lines += wrap(f"{function.result} {prefix}{function.name}"
                                  f"({function.signature});")
    return lines


def render(procedures, callbacks, sections):
    lines = [INTRODUCTION, TYPES]
    lines += [f"typedef struct MPI_ABI_{h}* MPI_{h};" for h in HANDLES] + [""]
    lines += _constants(sections, ("integers",), False)
    for callback in callbacks:
        lines += wrap(callback)
    lines += [FORMER_NAMES]
    lines += _constants(sections, ("handle", "pointer", "alias"), False)
    lines += _constants(sections, ("handle", "pointer", "alias"), True)
    lines += prototypes(procedures)
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)
