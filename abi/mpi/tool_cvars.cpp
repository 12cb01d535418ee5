// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 15.3.6: control variables. Each setting is one, under its name in the
// environment. Those that are read when a rank joins the job can be written until then, the others
// at any time. MPI-5.0 section 15.3.5: what the values of a variable mean.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "abi/mpi/tool.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/settings.hpp"

// What the standard's opaque handles point to.
struct MPI_ABI_T_enum {
  std::string name;
  std::vector<std::string> items;  ///< the value of each is its index
};
struct MPI_ABI_T_cvar_handle {
  int variable = 0;
};

namespace sinew::mpi {
namespace {

constexpr int longest_text = 256;  ///< of a variable without choices, its end included

struct variable {
  std::string name;  ///< settings are found by it: a library that had one may be gone
  std::string module;
  std::unique_ptr<MPI_ABI_T_enum> values;
};

/// Indices never change, so what is new goes to the end. Under tool::lock().
std::vector<variable>& variables() {
  static auto& known = *new std::vector<variable>;
  for (const setting_base* one : settings::all()) {
    const std::string name = one->name();
    if (std::any_of(known.begin(), known.end(), [&](const auto& v) { return v.name == name; })) {
      continue;
    }
    variable v{name, one->module(), nullptr};
    if (one->kind() == setting_kind::boolean) {
      v.values.reset(new MPI_ABI_T_enum{"SINEW_SWITCH", {"off", "on"}});
    } else if (*one->choices() != '\0') {
      v.values.reset(new MPI_ABI_T_enum{name, base::split(one->choices(), '|')});
    }
    known.push_back(std::move(v));
  }
  return known;
}

/// Null: no variable has that index, or its library is gone.
variable* variable_at(int index) {
  auto& all = variables();
  if (index < 0 || static_cast<std::size_t>(index) >= all.size()) {
    return nullptr;
  }
  variable& v = all[static_cast<std::size_t>(index)];
  return settings::find(v.name) != nullptr ? &v : nullptr;
}

std::vector<std::unique_ptr<MPI_ABI_T_cvar_handle>>& handles() {
  static auto& all = *new std::vector<std::unique_ptr<MPI_ABI_T_cvar_handle>>;
  return all;
}

bool is_handle(MPI_T_cvar_handle handle) {
  return std::any_of(handles().begin(), handles().end(),
                     [&](const auto& h) { return h.get() == handle; });
}

MPI_Datatype type_of(const setting_base& s, const variable& v) {
  if (v.values != nullptr) {
    return MPI_INT;
  }
  switch (s.kind()) {
    case setting_kind::boolean:
      return MPI_INT;
    case setting_kind::integer:
      return MPI_COUNT;
    case setting_kind::real:
      return MPI_DOUBLE;
    case setting_kind::text:
      break;
  }
  return MPI_CHAR;
}

int verbosity_of(const variable& v) {
  if (v.module == "base") {
    return MPI_T_VERBOSITY_USER_BASIC;
  }
  const bool tunes = v.module == "p2p" || v.module == "coll" || v.module == "match";
  return tunes ? MPI_T_VERBOSITY_TUNER_BASIC : MPI_T_VERBOSITY_TUNER_DETAIL;
}

void read_value(const setting_base& s, const variable& v, void* to) {
  if (v.values != nullptr) {
    const auto& items = v.values->items;
    const auto at = std::find(items.begin(), items.end(), s.text());
    SINEW_ASSERT(at != items.end());
    const int value = static_cast<int>(at - items.begin());
    std::memcpy(to, &value, sizeof value);
  } else if (s.kind() == setting_kind::integer) {
    const MPI_Count value = static_cast<const setting<std::int64_t>&>(s)();
    std::memcpy(to, &value, sizeof value);
  } else if (s.kind() == setting_kind::real) {
    const double value = static_cast<const setting<double>&>(s)();
    std::memcpy(to, &value, sizeof value);
  } else {
    (void)std::snprintf(static_cast<char*>(to), longest_text, "%s", s.text().c_str());
  }
}

/// A value in the form of the environment; "" if it is none.
std::string text_from(const setting_base& s, const variable& v, const void* from) {
  if (v.values != nullptr) {
    int value = 0;
    std::memcpy(&value, from, sizeof value);
    const auto& items = v.values->items;
    return value < 0 || static_cast<std::size_t>(value) >= items.size()
               ? std::string()
               : items[static_cast<std::size_t>(value)];
  }
  if (s.kind() == setting_kind::integer) {
    MPI_Count value = 0;
    std::memcpy(&value, from, sizeof value);
    return std::to_string(value);
  }
  if (s.kind() == setting_kind::real) {
    double value = 0;
    std::memcpy(&value, from, sizeof value);
    char text[64];
    (void)std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  const char* text = static_cast<const char*>(from);
  return std::string(text, ::strnlen(text, longest_text - 1));
}

}  // namespace

std::vector<int> tool::cvars_of(const std::string& module) {
  std::vector<int> found;
  const auto& all = variables();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].module == module) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

void tool::add_modules_of_cvars(std::vector<std::string>& to) {
  for (const variable& v : variables()) {
    if (std::find(to.begin(), to.end(), v.module) == to.end()) {
      to.push_back(v.module);
    }
  }
}

int impl::T_cvar_get_num(int* num_cvar) {
  return tool::enter([&]() -> int {
    if (num_cvar == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    *num_cvar = static_cast<int>(variables().size());
    return MPI_SUCCESS;
  });
}

int impl::T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity,
                          MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                          int* bind, int* scope) {
  return tool::enter([&]() -> int {
    const variable* v = variable_at(cvar_index);
    if (v == nullptr) {
      return MPI_T_ERR_INVALID_INDEX;
    }
    const setting_base& s = *settings::find(v->name);
    std::string about = s.about();
    about += *s.unit() != '\0' ? std::string(" [") + s.unit() + "]" : "";
    tool::give_text(name, name_len, v->name.c_str());
    tool::give_text(desc, desc_len, about.c_str());
    tool::give(verbosity, verbosity_of(*v));
    tool::give(datatype, type_of(s, *v));
    tool::give(enumtype, v->values != nullptr ? v->values.get() : MPI_T_ENUM_NULL);
    tool::give<int>(bind, MPI_T_BIND_NO_OBJECT);
    tool::give<int>(scope,
                    s.use() == setting_use::each_use ? MPI_T_SCOPE_LOCAL : MPI_T_SCOPE_ALL_EQ);
    return MPI_SUCCESS;
  });
}

int impl::T_cvar_get_index(const char* name, int* cvar_index) {
  return tool::enter([&]() -> int {
    if (name == nullptr || cvar_index == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    const auto& all = variables();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].name == name) {
        *cvar_index = static_cast<int>(i);
        return MPI_SUCCESS;
      }
    }
    return MPI_T_ERR_INVALID_NAME;
  });
}

int impl::T_cvar_handle_alloc(int cvar_index, void* obj_handle, MPI_T_cvar_handle* handle,
                              int* count) {
  (void)obj_handle;  // no variable is bound to an object
  return tool::enter([&]() -> int {
    const variable* v = variable_at(cvar_index);
    if (v == nullptr) {
      return MPI_T_ERR_INVALID_INDEX;
    }
    if (handle == nullptr || count == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    handles().emplace_back(new MPI_ABI_T_cvar_handle{cvar_index});
    *handle = handles().back().get();
    const bool text = type_of(*settings::find(v->name), *v) == MPI_CHAR;
    *count = text ? longest_text : 1;
    return MPI_SUCCESS;
  });
}

int impl::T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  return tool::enter([&]() -> int {
    if (handle == nullptr || !is_handle(*handle)) {
      return MPI_T_ERR_INVALID_HANDLE;
    }
    std::erase_if(handles(), [&](const auto& h) { return h.get() == *handle; });
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  });
}

int impl::T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  return tool::enter([&]() -> int {
    if (!is_handle(handle)) {
      return MPI_T_ERR_INVALID_HANDLE;
    }
    const variable* v = variable_at(handle->variable);
    if (v == nullptr || buf == nullptr) {
      return v == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID;
    }
    read_value(*settings::find(v->name), *v, buf);
    return MPI_SUCCESS;
  });
}

int impl::T_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  return tool::enter([&]() -> int {
    if (!is_handle(handle)) {
      return MPI_T_ERR_INVALID_HANDLE;
    }
    const variable* v = variable_at(handle->variable);
    if (v == nullptr || buf == nullptr) {
      return v == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID;
    }
    setting_base& s = *settings::find(v->name);
    if (s.use() == setting_use::at_start && process.now.load() != phase::before) {
      return MPI_T_ERR_CVAR_SET_NOT_NOW;
    }
    s.set(text_from(s, *v, buf), setting_origin::program);  // what it refuses is MPI_T_ERR_INVALID
    return MPI_SUCCESS;
  });
}

namespace {

bool is_enum(MPI_T_enum which) {
  const auto& all = variables();
  return which != MPI_T_ENUM_NULL && std::any_of(all.begin(), all.end(), [&](const auto& v) {
           return v.values.get() == which;
         });
}

}  // namespace

int impl::T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  return tool::enter([&]() -> int {
    if (!is_enum(enumtype)) {
      return MPI_T_ERR_INVALID_HANDLE;
    }
    tool::give(num, static_cast<int>(enumtype->items.size()));
    tool::give_text(name, name_len, enumtype->name.c_str());
    return MPI_SUCCESS;
  });
}

int impl::T_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
  return tool::enter([&]() -> int {
    if (!is_enum(enumtype)) {
      return MPI_T_ERR_INVALID_HANDLE;
    }
    if (index < 0 || static_cast<std::size_t>(index) >= enumtype->items.size()) {
      return MPI_T_ERR_INVALID_ITEM;
    }
    tool::give(value, index);
    tool::give_text(name, name_len, enumtype->items[static_cast<std::size_t>(index)].c_str());
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
