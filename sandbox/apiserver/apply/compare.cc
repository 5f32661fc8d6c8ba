// How two objects of one type differ.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "sandbox/apiserver/apply/typed.h"
#include "sandbox/apiserver/apply/walk.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox::apply {
namespace {

namespace json = boost::json;

// The member as Go writes it; null when it does not.
const json::value* Seen(const json::value* value, const schemas::SchemaProperty* property, Form form = Form::kStored) {
  if (property == nullptr) return value;
  if (value == nullptr || value->is_null()) return property->zero;
  return form == Form::kStored && property->drops_zero && IsZero(*value) ? nullptr : value;
}

// Visits the members of an object as Go writes it: name, value, type.
template <class Visit>
void ForEachSeen(const json::value& value, const schemas::SchemaNode& node, Form form, Visit visit) {
  const json::object* object = value.if_object();
  if (object != nullptr) {
    for (const auto& member : *object) {
      const schemas::SchemaProperty* property =
          node.shape == schemas::Shape::kObject ? node.Find(StdView(KeyOf(member))) : nullptr;
      const json::value* seen = Seen(&member.value(), property, form);
      const schemas::SchemaNode* below = property != nullptr ? property->node : MemberNode(node, KeyOf(member));
      if (seen != nullptr && below != nullptr) visit(KeyOf(member), *seen, *below);
    }
  }
  if (!node.has_zeros) return;
  for (const schemas::SchemaProperty& property : node.properties) {
    const bool there =
        object != nullptr && object->if_contains({property.name.data(), property.name.size()}) != nullptr;
    if (property.zero != nullptr && !there) visit(View(property.name), *property.zero, *property.node);
  }
}

bool EmptyMap(const json::value& value, const schemas::SchemaNode& node, Form form) {
  if (node.has_zeros) return false;
  bool empty = true;
  ForEachSeen(value, node, form,
              [&](absl::string_view, const json::value&, const schemas::SchemaNode&) { empty = false; });
  return empty;
}
bool EmptyList(const json::value& value) { return !value.is_array() || value.get_array().empty(); }

// The elements of a list by their steps, equal steps together, in order.
struct Element {
  PathElement step;
  const json::value* value;
};
std::vector<Element> ElementsOf(const json::value& list, const schemas::SchemaNode& node) {
  std::vector<Element> out;
  if (!list.is_array()) return out;
  out.reserve(list.get_array().size());
  for (const json::value& element : list.get_array()) {
    if (std::optional<PathElement> step = StepOf(node, element)) out.push_back({*std::move(step), &element});
  }
  const auto before = [](const Element& a, const Element& b) { return PathElement::Compare(a.step, b.step) < 0; };
  if (!std::is_sorted(out.begin(), out.end(), before)) std::stable_sort(out.begin(), out.end(), before);
  return out;
}

// Everything below a value that is there on one side only.
FieldSet AllBelow(const json::value& value, const schemas::SchemaNode& node, Form form);

// One step and its equals; `end` behind the last.
std::size_t EndOfRun(const std::vector<Element>& elements, std::size_t at) {
  std::size_t end = at;
  while (end < elements.size() && elements[end].step == elements[at].step) ++end;
  return end;
}

FieldSet AllBelow(const json::value& value, const schemas::SchemaNode& node, Form form) {
  FieldSet out;
  switch (AtomOf(node, value)) {
    case Atom::kLeaf:
      break;
    case Atom::kMap:
      ForEachSeen(value, node, form,
                  [&](absl::string_view name, const json::value& member, const schemas::SchemaNode& below) {
                    out.Add(PathElement::Field(name), true, AllBelow(member, below, form));
                  });
      out.Sort();
      break;
    case Atom::kList: {
      const std::vector<Element> elements = ElementsOf(value, node);
      for (std::size_t i = 0; i < elements.size(); i = EndOfRun(elements, i)) {
        const bool one = EndOfRun(elements, i) == i + 1;  // of those that stand twice nobody owns parts
        out.Add(elements[i].step, true, one ? AllBelow(*elements[i].value, *node.element, form) : FieldSet());
      }
      break;
    }
  }
  return out;
}

// What one step of a comparison found of the place itself.
enum Here : unsigned { kSame = 0, kChanged = 1, kRemoved = 2 };

// One comparison; `form_` is that of what comes after.
class Walk {
 public:
  explicit Walk(Form form) : form_(form) {}
  void Maps(const json::value& before, const json::value& after, const schemas::SchemaNode& node,
            Comparison& out) const;

 private:
  unsigned At(const json::value& before, const json::value& after, const schemas::SchemaNode& node,
              Comparison& out) const;
  void Step(PathElement step, const json::value* before, const json::value* after, const schemas::SchemaNode& node,
            Comparison& out) const;
  void Lists(const json::value& before, const json::value& after, const schemas::SchemaNode& node,
             Comparison& out) const;

  const Form form_;
};

// `before` or `after` may be null: not there.
void Walk::Step(PathElement step, const json::value* before, const json::value* after, const schemas::SchemaNode& node,
                Comparison& out) const {
  if (before == nullptr) {
    out.changed.Add(std::move(step), true, AllBelow(*after, node, form_));
  } else if (after == nullptr) {
    out.removed.Add(std::move(step), true, AllBelow(*before, node, Form::kStored));
  } else {
    Comparison below;
    const unsigned here = At(*before, *after, node, below);
    if ((here & kChanged) != 0 || !below.changed.Empty())
      out.changed.Add(step, (here & kChanged) != 0, std::move(below.changed));
    if (!below.removed.Empty()) out.removed.Add(std::move(step), false, std::move(below.removed));
  }
}

void Walk::Maps(const json::value& before, const json::value& after, const schemas::SchemaNode& node,
                Comparison& out) const {
  const json::object* a = before.if_object();
  const json::object* b = after.if_object();
  const auto compare = [&](absl::string_view name, const json::value* x, const json::value* y) {
    if (x != nullptr && y != nullptr && Equal(*x, *y)) return;
    const schemas::SchemaProperty* property =
        node.shape == schemas::Shape::kObject ? node.Find(StdView(name)) : nullptr;
    const schemas::SchemaNode* below = property != nullptr ? property->node : MemberNode(node, name);
    if (below == nullptr) return;
    x = Seen(x, property);
    y = Seen(y, property, form_);
    if (x == nullptr && y == nullptr) return;
    Step(PathElement::Field(name), x, y, *below, out);
  };
  if (b != nullptr) {
    auto twin = a == nullptr ? json::object::const_iterator() : a->begin();  // members mostly stand in the same order
    for (const auto& member : *b) {
      const json::value* x = nullptr;
      if (a != nullptr) {
        if (twin != a->end() && twin->key() == member.key()) {
          x = &twin->value();
          ++twin;
        } else {
          x = a->if_contains(member.key());
        }
      }
      compare(KeyOf(member), x, &member.value());
    }
  }
  if (a != nullptr) {
    for (const auto& member : *a) {
      if (b == nullptr || !b->contains(member.key())) compare(KeyOf(member), &member.value(), nullptr);
    }
  }
  out.changed.Sort();
  out.removed.Sort();
}

bool SameRuns(const std::vector<Element>& a, std::size_t i, std::size_t i_end, const std::vector<Element>& b,
              std::size_t j, std::size_t j_end) {
  return std::equal(a.begin() + static_cast<std::ptrdiff_t>(i), a.begin() + static_cast<std::ptrdiff_t>(i_end),
                    b.begin() + static_cast<std::ptrdiff_t>(j), b.begin() + static_cast<std::ptrdiff_t>(j_end),
                    [](const Element& x, const Element& y) { return Equal(*x.value, *y.value); });
}

void Walk::Lists(const json::value& before, const json::value& after, const schemas::SchemaNode& node,
                 Comparison& out) const {
  const std::vector<Element> a = ElementsOf(before, node), b = ElementsOf(after, node);
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size() ? 1 : j == b.size() ? -1 : PathElement::Compare(a[i].step, b[j].step);
    const std::size_t i_end = order <= 0 ? EndOfRun(a, i) : i, j_end = order >= 0 ? EndOfRun(b, j) : j;
    const PathElement& step = order <= 0 ? a[i].step : b[j].step;
    const std::size_t x = i_end - i, y = j_end - j;
    if (x <= 1 && y <= 1) {
      Step(step, x == 0 ? nullptr : a[i].value, y == 0 ? nullptr : b[j].value, *node.element, out);
    } else if (x >= 2 && y >= 2) {
      if (!SameRuns(a, i, i_end, b, j, j_end)) out.changed.Add(step, true, {});
    } else if (x >= 2) {
      if (y != 0) Step(step, nullptr, b[j].value, *node.element, out);
      out.removed.Add(step, true, {});
    } else {
      if (x != 0) Step(step, a[i].value, nullptr, *node.element, out);
      out.changed.Add(step, true, {});
    }
    i = i_end;
    j = j_end;
  }
}

unsigned Walk::At(const json::value& before, const json::value& after, const schemas::SchemaNode& node,
                  Comparison& out) const {
  if (Equal(before, after)) return kSame;
  const Atom a = AtomOf(node, before), b = AtomOf(node, after);
  if (a != b) {  // only where the type says nothing
    if (a == Atom::kMap) out.removed = AllBelow(before, node, Form::kStored);
    if (b == Atom::kMap) out.changed = AllBelow(after, node, form_);
    return kChanged;
  }
  switch (a) {
    case Atom::kLeaf:
      return kChanged;
    case Atom::kMap:
      if (EmptyMap(before, node, Form::kStored) && EmptyMap(after, node, form_))
        return before.kind() == after.kind() ? kSame : kChanged;
      Maps(before, after, node, out);
      return kSame;
    case Atom::kList:
      if (EmptyList(before) && EmptyList(after)) return kChanged;
      Lists(before, after, node, out);
      return kSame;
  }
  return kSame;
}

}  // namespace

Comparison Compare(const json::value& before, const json::value& after, const schemas::SchemaNode& type,
                   Form form_of_after) {
  Comparison out;
  Walk(form_of_after).Maps(before, after, type, out);
  return out;
}

}  // namespace gangway::sandbox::apply
