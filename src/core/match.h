// Exhaustive matching over a std::variant: std::visit(Match{[](A){…}, [](B){…}}, value).
#pragma once

#include <variant>

namespace pipedream {

template <class... Fs>
struct Match : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Match(Fs...) -> Match<Fs...>;

}  // namespace pipedream
