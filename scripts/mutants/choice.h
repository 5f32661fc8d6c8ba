// What scripts/test-mutants puts in front of a source: each of its mutants is a choice of the run. `a < b` becomes `a <
// LessToLessEqual{7} < b`, which groups as `(a < LessToLessEqual{7}) < b` whatever a and b are, and is `a <= b` in the
// run of mutant 7.
#pragma once
#include <type_traits>

namespace gw_mutants {

extern const int chosen;         // GW_MUTANT, 0 = none
extern unsigned char reached[];  // by number

inline bool On(int number) {
  reached[number] = 1;
  return chosen == number;
}

#define GW_MUTANT_OF_OPERATOR(NAME, OP, MUTATED)                       \
  struct NAME {                                                        \
    int number;                                                        \
  };                                                                   \
  template <class A>                                                   \
  struct NAME##Left {                                                  \
    const A& a;                                                        \
    int number;                                                        \
  };                                                                   \
  template <class A>                                                   \
  NAME##Left<A> operator OP(const A & a, NAME choice) {                \
    return {a, choice.number};                                         \
  }                                                                    \
  template <class A, class B>                                          \
  auto operator OP(NAME##Left<A> left, const B& b) {                   \
    using Result = std::decay_t<decltype(left.a OP b)>;                \
    return On(left.number) ? MUTATED<Result>(left.a, b) : left.a OP b; \
  }

template <class R, class A, class B>
R LessEqual(const A& a, const B& b) {
  if constexpr (requires { a <= b; })
    return a <= b;
  else
    return !(b < a);
}
template <class R, class A, class B>
R GreaterEqual(const A& a, const B& b) {
  if constexpr (requires { a >= b; })
    return a >= b;
  else
    return !(a < b);
}
template <class R, class A, class B>
R Less(const A& a, const B& b) {
  if constexpr (requires { a < b; })
    return a < b;
  else
    return b > a;
}
template <class R, class A, class B>
R Greater(const A& a, const B& b) {
  if constexpr (requires { a > b; })
    return a > b;
  else
    return b < a;
}
template <class R, class A, class B>
R Equal(const A& a, const B& b) {
  return a == b;
}
template <class R, class A, class B>
R Unequal(const A& a, const B& b) {
  return !(a == b);
}

// Where the other operator does not exist (texts, times), what stands beside it is lost.
template <class R, class A, class B>
R Either(const A& a, const B& b) {
  if constexpr (std::is_convertible_v<const A&, R>)
    return a;
  else if constexpr (std::is_convertible_v<const B&, R>)
    return b;
  else
    return R{};
}
template <class R, class A, class B>
R Minus(const A& a, const B& b) {
  if constexpr (requires { static_cast<R>(a - b); })
    return static_cast<R>(a - b);
  else
    return Either<R>(a, b);
}
template <class R, class A, class B>
R Plus(const A& a, const B& b) {
  if constexpr (requires { static_cast<R>(a + b); })
    return static_cast<R>(a + b);
  else
    return Either<R>(a, b);
}

GW_MUTANT_OF_OPERATOR(LessToLessEqual, <, LessEqual)
GW_MUTANT_OF_OPERATOR(LessEqualToLess, <=, Less)
GW_MUTANT_OF_OPERATOR(GreaterToGreaterEqual, >, GreaterEqual)
GW_MUTANT_OF_OPERATOR(GreaterEqualToGreater, >=, Greater)
GW_MUTANT_OF_OPERATOR(LessToGreater, <, Greater)
GW_MUTANT_OF_OPERATOR(GreaterToLess, >, Less)
GW_MUTANT_OF_OPERATOR(EqualToUnequal, ==, Unequal)
GW_MUTANT_OF_OPERATOR(UnequalToEqual, !=, Equal)
GW_MUTANT_OF_OPERATOR(PlusToMinus, +, Minus)
GW_MUTANT_OF_OPERATOR(MinusToPlus, -, Plus)

// `!x` becomes `Not{7} % x`.
struct Not {
  int number;
};
template <class A>
bool operator%(Not choice, const A& a) {
  return On(choice.number) == static_cast<bool>(a);
}

// `a += b;` becomes `AddTo(7, a, b);`.
template <class A, class B>
void AddTo(int number, A&& a, const B& b) {
  if constexpr (requires { a -= b; }) {
    if (On(number)) {
      a -= b;
      return;
    }
  } else if (On(number)) {
    return;
  }
  a += b;
}
template <class A, class B>
void TakeFrom(int number, A&& a, const B& b) {
  if (On(number)) {
    a += b;
  } else {
    a -= b;
  }
}

}  // namespace gw_mutants
