// Selects the active mutation at run time: $YARD_MUTANT gives its number; without it the code runs
// as written. So one build holds all mutants (Untch et al., "Mutation Analysis Using Mutant
// Schemata", ISSTA 1993).
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace yard::mutation {

inline const int kChosen = [] {
  const char* text = std::getenv("YARD_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}();

// If $YARD_REACHED names a file, the numbers of all mutations that were reached are written there.
struct Reached {
  static constexpr int kMaxMutations = 10'000;
  const char* path = std::getenv("YARD_REACHED");
  std::array<char, kMaxMutations> seen{};
  ~Reached() {
    if (path == nullptr) return;
    std::FILE* file = std::fopen(path, "w");
    for (int id = 0; file != nullptr && id < kMaxMutations; ++id) {
      if (seen[static_cast<size_t>(id)] != 0) std::fprintf(file, "%d\n", id);
    }
    if (file != nullptr) std::fclose(file);
  }
};
inline Reached reached;

inline bool is(int id) {
  if (reached.path != nullptr) reached.seen[static_cast<size_t>(id)] = 1;
  return kChosen == id;
}

template <class T>
T value(int id, T was, T now) {
  return is(id) ? now : was;
}

template <int kId, bool kMax>
struct Extreme {
  template <class T>
  static T of(const T& a, const T& b) {
    return (a < b) == (is(kId) != kMax) ? b : a;
  }
};

struct ShiftLeft {
  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    return a << b;
  }
};
struct ShiftRight {
  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    return a >> b;
  }
};

// `a + b` becomes `a + Operator<id, std::plus<>, std::minus<>>{} + b`: precedence and operand types
// stay. A `Side` holds the first operand in between.
template <int kId, class Original, class Mutated>
struct Operator {};

template <int kId, class Original, class Mutated, class T>
struct Side {
  const T& operand;
};

#define YARD_MUTATION_OPERATOR(op)                                                            \
  template <int kId, class Original, class Mutated, class A>                                  \
  Side<kId, Original, Mutated, A> operator op(const A& a, Operator<kId, Original, Mutated>) { \
    return {a};                                                                               \
  }                                                                                           \
  template <int kId, class Original, class Mutated, class A, class B>                         \
  auto operator op(const Side<kId, Original, Mutated, A>& a, const B& b) {                    \
    return is(kId) ? Mutated{}(a.operand, b) : Original{}(a.operand, b);                      \
  }
YARD_MUTATION_OPERATOR(<)
YARD_MUTATION_OPERATOR(<=)
YARD_MUTATION_OPERATOR(>)
YARD_MUTATION_OPERATOR(>=)
YARD_MUTATION_OPERATOR(==)
YARD_MUTATION_OPERATOR(!=)
YARD_MUTATION_OPERATOR(+)
YARD_MUTATION_OPERATOR(-)
YARD_MUTATION_OPERATOR(*)
YARD_MUTATION_OPERATOR(/)
YARD_MUTATION_OPERATOR(%)
YARD_MUTATION_OPERATOR(&)
YARD_MUTATION_OPERATOR(|)
YARD_MUTATION_OPERATOR(<<)
YARD_MUTATION_OPERATOR(>>)
#undef YARD_MUTATION_OPERATOR

// Assignments are right-associative: `a += Operator{} += b`.
#define YARD_MUTATION_ASSIGNMENT(op)                                                          \
  template <int kId, class Original, class Mutated, class B>                                  \
  Side<kId, Original, Mutated, B> operator op(Operator<kId, Original, Mutated>, const B& b) { \
    return {b};                                                                               \
  }                                                                                           \
  template <int kId, class Original, class Mutated, class A, class B>                         \
  A& operator op(A& a, const Side<kId, Original, Mutated, B>& b) {                            \
    a = static_cast<A>(is(kId) ? Mutated{}(a, b.operand) : Original{}(a, b.operand));         \
    return a;                                                                                 \
  }
YARD_MUTATION_ASSIGNMENT(+=)
YARD_MUTATION_ASSIGNMENT(-=)
YARD_MUTATION_ASSIGNMENT(*=)
YARD_MUTATION_ASSIGNMENT(/=)
YARD_MUTATION_ASSIGNMENT(&=)
YARD_MUTATION_ASSIGNMENT(|=)
#undef YARD_MUTATION_ASSIGNMENT

}  // namespace yard::mutation
