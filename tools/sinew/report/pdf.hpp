// Pictures as PDF, for papers: the SVG text that svg.hpp makes, drawn again. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sinew::tool {

/// One page of the picture's size with the same lines, shapes and words; words are text that can be
/// searched, in Helvetica, which every reader has. Its title and description are the document's.
/// Throws sinew::error if the picture has an element that svg.hpp does not make. Cold.
[[nodiscard]] std::string pdf_of(std::string_view svg);

}  // namespace sinew::tool
