"""The C functions: each translates its small counts and calls one implementation.

impl.hpp declares, for each procedure, `sinew::mpi::impl::Name` with the large-count types;
faces_*.cpp define PMPI_Name and PMPI_Name_c over it, with MPI_ twins as weak aliases;
unsupported.cpp defines each implementation weakly, so that a strong one elsewhere replaces it."""

from header import wrap

NOTE = "// Made by abi/mpi/generate; do not edit.\n"

# Callable before MPI_Init and after MPI_Finalize (MPI-5.0 section 11.4.1); and all of MPI_T_.
ANY_TIME = set("""
Abi_get_fortran_booleans Abi_get_fortran_info Abi_get_info Abi_get_version Abi_set_fortran_booleans
Abi_set_fortran_info Add_error_class Add_error_code Add_error_string Remove_error_class
Remove_error_code Remove_error_string Error_class Error_string Finalized Initialized Get_version
Get_library_version Init Init_thread Info_create Info_create_env Info_delete Info_dup Info_free
Info_get Info_get_nkeys Info_get_nthkey Info_get_string Info_get_valuelen Info_set Pcontrol
Session_init Session_create_errhandler Session_call_errhandler Errhandler_free Comm_create_errhandler
Win_create_errhandler File_create_errhandler Query_thread_level
""".split())

# Plain arithmetic: no state, no failure.
PURE = {"Aint_add", "Aint_diff", "Wtime", "Wtick"}


def implementations(procedure):
    """The functions that have an implementation: the widest form, or both if they differ."""
    if procedure.split:
        return [procedure.small, procedure.large]
    return [procedure.large or procedure.small]


def implementation_name(function, procedure):
    if procedure.large and not procedure.split:
        return procedure.small.short
    return function.short


def declarations(procedures):
    lines = [NOTE + "#pragma once", "", '#include "c/mpi.h"', "", "namespace sinew::mpi::impl {", ""]
    for procedure in procedures:
        for function in implementations(procedure):
            name = implementation_name(function, procedure)
            lines += wrap(f"{function.result} {name}({function.signature});")
    return "\n".join(lines + ["", "}  // namespace sinew::mpi::impl", ""])


def unsupported(procedures):
    lines = [NOTE + '#include "abi/mpi/errors.hpp"', '#include "abi/mpi/generated/impl.hpp"', "",
             "#pragma GCC diagnostic ignored \"-Wunused-parameter\"", "",
             "namespace sinew::mpi::impl {", ""]
    for procedure in procedures:
        for function in implementations(procedure):
            if function.result != "int":
                continue
            name = implementation_name(function, procedure)
            body = "return MPI_T_ERR_NOT_SUPPORTED;" if name.startswith("T_") else "unsupported();"
            lines += wrap(f"[[gnu::weak]] int {name}({function.signature}) {{ {body} }}")
    return "\n".join(lines + ["", "}  // namespace sinew::mpi::impl", ""])


def _length(parameter, function):
    """How many entries an array of counts has, as a C++ expression."""
    if parameter.length not in (None, "*", ""):
        return str(parameter.length)
    if "eighbor_" in function.name:
        sends = parameter.name.startswith("s")
        return "out_degree(comm)" if sends else "in_degree(comm)"
    return "members_at(comm, root)" if parameter.root_only else "members(comm)"


def _arguments(function, target):
    """Statements before the call, its arguments, statements after it."""
    before, arguments, after = [], [], []
    for mine, wanted in zip(function.parameters, target.parameters):
        name = mine.name
        if mine.type == wanted.type or "MPI_Aint" in mine.base or mine.base == wanted.base:
            arguments.append(name)
        elif mine.array:
            wide = wanted.base.replace("const ", "")
            before.append(f"const widened<{wide}> {name}_wide({name}, "
                          f"{_length(mine, function)});")
            arguments.append(f"{name}_wide.data()")
        elif mine.base == "int*":
            wide = wanted.base[:-1]
            start = f"read({name})" if mine.direction == "inout" else "0"
            before.append(f"{wide} {name}_wide = {start};")
            arguments.append(f"&{name}_wide")
            after.append(f"narrow({name}_wide, {name});")
        else:
            arguments.append(name)
    return before, arguments, after


def _face(function, procedure):
    target = function if procedure.split else (procedure.large or procedure.small)
    name = implementation_name(function, procedure)
    before, arguments, after = _arguments(function, target)
    call = f"impl::{name}({', '.join(arguments)})"
    lines = wrap(f"{function.result} P{function.name}({function.signature}) {{")
    if procedure.small.short in PURE or function.result != "int":
        lines += [f"  return {call};"]
    else:
        any_time = name in ANY_TIME or name.startswith("T_")
        comm = next((p.name for p in function.parameters if p.base == "MPI_Comm"), "")
        lines += ["  try {", f"    {'note' if any_time else 'enter'}(\"{function.name}\");"]
        lines += [f"    {statement}" for statement in before]
        if after:
            lines += [f"    const int code = {call};", "    if (code == MPI_SUCCESS) {"]
            lines += [f"      {statement}" for statement in after]
            lines += ["    }", "    return code;"]
        else:
            lines += [f"    return {call};"]
        lines += ["  } catch (...) {", f"    return caught({comm});", "  }"]
    lines += ["}"]
    lines += wrap(f'[[gnu::weak, gnu::alias("P{function.name}"), gnu::visibility("default")]] '
                  f"{function.result} {function.name}({function.signature});")
    return lines + [""]


def _variadic_face(function):
    """MPI_Pcontrol: means nothing here, by right of the standard."""
    return [f"int P{function.name}([[maybe_unused]] {function.signature}) {{ return MPI_SUCCESS; }}",
            f'[[gnu::weak, gnu::alias("P{function.name}"), gnu::visibility("default")]] '
            f"int {function.name}({function.signature});", ""]


def definitions(procedures):
    lines = [NOTE + '#include "abi/mpi/face.hpp"', '#include "abi/mpi/generated/impl.hpp"', "",
             "using namespace sinew::mpi;", "", "#pragma GCC visibility push(default)",
             'extern "C" {', ""]
    for procedure in procedures:
        for function in (procedure.small, procedure.large):
            if function and function.variadic:
                lines += _variadic_face(function)
            elif function:
                lines += _face(function, procedure)
    return "\n".join(lines + ["}", "#pragma GCC visibility pop", ""])
