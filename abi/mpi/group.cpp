// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 7.3: groups.
#include <span>
#include <utility>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

const core::group& empty() {
  static auto& it = *new core::group;
  return it;
}

/// Checks that ranks exist and are distinct.
void check_ranks(const core::group& g, std::span<const int> ranks) {
  std::vector<char> seen(static_cast<std::size_t>(g.size()));
  for (const int r : ranks) {
    if (r < 0 || r >= g.size()) {
      fail(MPI_ERR_RANK, "rank %d is not one of the %d ranks of the group", r, g.size());
    }
    if (seen[static_cast<std::size_t>(r)]++ != 0) {
      fail(MPI_ERR_RANK, "rank %d is listed twice", r);
    }
  }
}

std::span<const int> list_of(int n, const int* ranks) {
  if (n < 0) {
    fail(MPI_ERR_ARG, "the number of ranks is %d", n);
  }
  if (n > 0) {
    check_out(ranks, "ranks");
  }
  return {ranks, static_cast<std::size_t>(n)};
}

std::vector<int> expand(int n, int ranges[][3]) {
  if (n < 0) {
    fail(MPI_ERR_ARG, "the number of ranges is %d", n);
  }
  std::vector<int> ranks;
  for (int i = 0; i < n; ++i) {
    const auto [first, last, stride] = std::tuple{ranges[i][0], ranges[i][1], ranges[i][2]};
    if (stride == 0) {
      fail(MPI_ERR_ARG, "the stride of range %d is 0", i);
    }
    for (int r = first; stride > 0 ? r <= last : r >= last; r += stride) {
      ranks.push_back(r);
    }
  }
  return ranks;
}

/// `from`: the (first) group that it is made of.
int result(MPI_Group* to, core::group members, MPI_Group from) {
  check_out(to, "newgroup");
  *to = new_group(std::move(members), session_of(from));
  return MPI_SUCCESS;
}

job_rank self_rank() { return process.runtime->rank(); }

}  // namespace

const core::group& group_of(MPI_Group handle) {
  if (handle == MPI_GROUP_EMPTY) {
    return empty();
  }
  const auto* found = resolve<group_object>(handle);
  if (found == nullptr) {
    fail(MPI_ERR_GROUP, "the group is %s",
         handle == MPI_GROUP_NULL ? "MPI_GROUP_NULL" : "freed or no group");
  }
  SINEW_ENSURE(found->members.size() > 0);
  return found->members;
}

session_object* session_of(MPI_Group handle) {
  (void)group_of(handle);
  return handle == MPI_GROUP_EMPTY ? nullptr : resolve<group_object>(handle)->session;
}

MPI_Group new_group(core::group members, session_object* session) {
  if (members.size() == 0) {
    return MPI_GROUP_EMPTY;
  }
  return handle_of<MPI_Group>(arena<group_object>::make(std::move(members), session));
}

int impl::Group_size(MPI_Group group, int* size) {
  check_out(size, "size");
  *size = group_of(group).size();
  return MPI_SUCCESS;
}

int impl::Group_rank(MPI_Group group, int* rank) {
  check_out(rank, "rank");
  *rank = group_of(group).find(self_rank()).value();
  return MPI_SUCCESS;
}

int impl::Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                                int ranks2[]) {
  const core::group& from = group_of(group1);
  const core::group& to = group_of(group2);
  const std::span<const int> ranks = list_of(n, ranks1);
  if (n > 0) {
    check_out(ranks2, "ranks2");
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
      continue;
    }
    if (ranks[i] < 0 || ranks[i] >= from.size()) {
      fail(MPI_ERR_RANK, "rank %d is not one of the %d ranks of the group", ranks[i], from.size());
    }
    ranks2[i] = to.find(from[comm_rank{ranks[i]}]).value();
  }
  return MPI_SUCCESS;
}

int impl::Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  check_out(result, "result");
  using relation = core::group::relation;
  const relation r = core::group::compare(group_of(group1), group_of(group2));
  *result = r == relation::identical ? MPI_IDENT
            : r == relation::similar ? MPI_SIMILAR
                                     : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

int impl::Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  core::group both = core::group::unite(group_of(group1), group_of(group2));
  SINEW_ASSERT(both.size() >= group_of(group1).size() && both.size() >= group_of(group2).size());
  return result(newgroup, std::move(both), group1 == MPI_GROUP_EMPTY ? group2 : group1);
}

int impl::Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  core::group common = core::group::intersect(group_of(group1), group_of(group2));
  SINEW_ASSERT(common.size() <= group_of(group1).size());
  SINEW_ASSERT(common.size() <= group_of(group2).size());
  return result(newgroup, std::move(common), group1);
}

int impl::Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return result(newgroup, core::group::subtract(group_of(group1), group_of(group2)), group1);
}

int impl::Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  const core::group& g = group_of(group);
  const std::span<const int> list = list_of(n, ranks);
  check_ranks(g, list);
  core::group members = g.include(list);
  SINEW_ASSERT(static_cast<std::size_t>(members.size()) == list.size());
  return result(newgroup, std::move(members), group);
}

int impl::Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  const core::group& g = group_of(group);
  const std::span<const int> list = list_of(n, ranks);
  check_ranks(g, list);
  core::group members = g.exclude(list);
  SINEW_ASSERT(static_cast<std::size_t>(g.size() - members.size()) == list.size());
  return result(newgroup, std::move(members), group);
}

int impl::Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  const core::group& g = group_of(group);
  const std::vector<int> list = expand(n, ranges);
  check_ranks(g, list);
  core::group members = g.include(list);
  SINEW_ASSERT(static_cast<std::size_t>(members.size()) == list.size());
  return result(newgroup, std::move(members), group);
}

int impl::Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  const core::group& g = group_of(group);
  const std::vector<int> list = expand(n, ranges);
  check_ranks(g, list);
  core::group members = g.exclude(list);
  SINEW_ASSERT(static_cast<std::size_t>(g.size() - members.size()) == list.size());
  return result(newgroup, std::move(members), group);
}

int impl::Group_free(MPI_Group* group) {
  check_out(group, "group");
  (void)group_of(*group);
  if (*group != MPI_GROUP_EMPTY) {
    drop(resolve<group_object>(*group));
  }
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
