#include "sandbox/apiserver/schemas/custom.h"

#include <algorithm>
#include <vector>

namespace gangway::sandbox {

std::span<const api::DefinedType> CustomTypes() {
  static const auto& all = *[] {
    auto* types = new std::vector<api::DefinedType>(api::VolcanoTypes());
    for (const api::DefinedType& type : api::PaddleTypes()) types->push_back(type);
    return types;
  }();
  return all;
}

const api::DefinedType* FindCustomType(const api::Resource& resource) {
  const auto at = std::find_if(CustomTypes().begin(), CustomTypes().end(), [&](const api::DefinedType& type) { return type.resource == &resource; });
  return at == CustomTypes().end() ? nullptr : &*at;
}

}  // namespace gangway::sandbox
