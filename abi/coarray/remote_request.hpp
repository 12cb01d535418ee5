// SPDX-License-Identifier: BSD-3-Clause
// Running one of the compiler's functions where the data is (accessor.hpp says which): the image
// that asks sends all that it needs as a request of rma, and the other one does it in its next
// round of progress, so before or in its next image control statement, and answers with the result.
// What is too long for a message is put there before, or fetched from there afterwards.
#pragma once

#include "abi/coarray/accessor.hpp"
#include "sinew/rma/place.hpp"

namespace sinew::coarray {

/// Before the first message of the job. Cold.
void serve_remote_requests();

/// perform() by that rank, on what it has at `object`. `within`, if not 0: one element that is
/// fetched must lie in so many bytes from there on. `element_bytes`: of what is fetched or stored,
/// of a character if it is text; `room`: of the result, if it is known. Results are this image's:
/// `a.found` is for free() if `a.made`. Waits. Throws sinew::error, also if that image fails on the
/// way.
void perform_there(int accessor, remote_call& a, rma::place object, std::size_t within,
                   std::size_t element_bytes, std::size_t room);

}  // namespace sinew::coarray
