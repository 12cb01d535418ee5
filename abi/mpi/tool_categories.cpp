// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 15.3.9: categories. The first holds all others, of which each is a module.
#include "abi/mpi/tool.hpp"

namespace sinew::mpi {
namespace {

/// Indices never change, so what is new goes to the end. Under tool::lock().
const std::vector<std::string>& modules() {
  static auto& all = *new std::vector<std::string>{"p2p", "match", "coll", "rma", "core", "mpi"};
  tool::add_modules_of_cvars(all);
  return all;
}

int category_count() { return static_cast<int>(modules().size()) + 1; }

std::string name_of(int index) {
  SINEW_EXPECT(index >= 0 && index < category_count());
  return index == 0 ? "sinew" : "sinew_" + modules()[static_cast<std::size_t>(index - 1)];
}

std::vector<int> inner_of(int index) {
  std::vector<int> all;
  for (int i = 1; index == 0 && i < category_count(); ++i) {
    all.push_back(i);
  }
  return all;
}

/// What a category holds of one kind; the first holds only categories.
std::vector<int> held_by(int index, std::vector<int> (*of)(const std::string&)) {
  return index == 0 ? std::vector<int>() : of(modules()[static_cast<std::size_t>(index - 1)]);
}

int with_category(int index, auto call) {
  return tool::enter([&]() -> int {
    return index >= 0 && index < category_count() ? call() : MPI_T_ERR_INVALID_INDEX;
  });
}

int size_of(const std::vector<int>& all) { return static_cast<int>(all.size()); }

}  // namespace

int impl::T_category_get_num(int* num_cat) {
  return tool::enter([&]() -> int {
    if (num_cat == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    *num_cat = category_count();
    return MPI_SUCCESS;
  });
}

// The stamp: categories and variables are only ever added.
int impl::T_category_changed(int* update_number) {
  return tool::enter([&]() -> int {
    if (update_number == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    int stamp = category_count();
    for (const std::string& module : modules()) {
      stamp += size_of(tool::cvars_of(module));
    }
    *update_number = stamp;
    return MPI_SUCCESS;
  });
}

int impl::T_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                              int* num_cvars, int* num_pvars, int* num_categories) {
  return with_category(cat_index, [&]() -> int {
    const std::string about = cat_index == 0 ? "the modules of Sinew"
                                             : "what the module " + name_of(cat_index).substr(6) +
                                                   " can be told, and tells";
    tool::give_text(name, name_len, name_of(cat_index).c_str());
    tool::give_text(desc, desc_len, about.c_str());
    tool::give(num_cvars, size_of(held_by(cat_index, tool::cvars_of)));
    tool::give(num_pvars, size_of(held_by(cat_index, tool::pvars_of)));
    tool::give(num_categories, size_of(inner_of(cat_index)));
    return MPI_SUCCESS;
  });
}

int impl::T_category_get_num_events(int cat_index, int* num_events) {
  return with_category(cat_index, [&]() -> int {
    if (num_events == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    *num_events = size_of(held_by(cat_index, tool::events_of));
    return MPI_SUCCESS;
  });
}

int impl::T_category_get_index(const char* name, int* cat_index) {
  return tool::enter([&]() -> int {
    if (name == nullptr || cat_index == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    for (int i = 0; i < category_count(); ++i) {
      if (name_of(i) == name) {
        *cat_index = i;
        return MPI_SUCCESS;
      }
    }
    return MPI_T_ERR_INVALID_NAME;
  });
}

int impl::T_category_get_categories(int cat_index, int len, int indices[]) {
  return with_category(cat_index,
                       [&] { return tool::give_indices(inner_of(cat_index), len, indices); });
}
int impl::T_category_get_cvars(int cat_index, int len, int indices[]) {
  return with_category(cat_index, [&] {
    return tool::give_indices(held_by(cat_index, tool::cvars_of), len, indices);
  });
}
int impl::T_category_get_pvars(int cat_index, int len, int indices[]) {
  return with_category(cat_index, [&] {
    return tool::give_indices(held_by(cat_index, tool::pvars_of), len, indices);
  });
}
int impl::T_category_get_events(int cat_index, int len, int indices[]) {
  return with_category(cat_index, [&] {
    return tool::give_indices(held_by(cat_index, tool::events_of), len, indices);
  });
}

}  // namespace sinew::mpi
