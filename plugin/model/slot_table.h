// Things known by small numbers, which are given again after removal: the one that became free last first.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"
#include "plugin/model/compact.h"

namespace gangway::model {

template <class T>
class SlotTable {
 public:
  // The number of a fresh T.
  int Add() {
    ++size_;
    if (free_.empty()) {
      GrowByQuarters(slots_);
      slots_.emplace_back();
      GrowByQuarters(used_);
      used_.push_back(1);
      return slots() - 1;
    }
    const int id = free_.back();
    free_.pop_back();
    used_[Index(id)] = 1;
    return id;
  }
  void Remove(int id) {
    GW_CHECK(Has(id));
    slots_[Index(id)] = T();
    used_[Index(id)] = 0;
    free_.push_back(id);
    --size_;
  }
  // References are good until the next Add.
  T& operator[](int id) { return slots_[Index(id)]; }
  const T& operator[](int id) const { return slots_[Index(id)]; }

  bool Has(int id) const { return id >= 0 && id < slots() && used_[Index(id)] != 0; }
  int slots() const { return static_cast<int>(slots_.size()); }  // every number is below
  int size() const { return size_; }

  template <class F>  // void(int id, const T&), in order of numbers
  void ForEach(F visit) const {
    for (int id = 0; id < slots(); ++id) {
      if (used_[Index(id)] != 0) visit(id, slots_[Index(id)]);
    }
  }

 private:
  static std::size_t Index(int id) { return static_cast<std::size_t>(id); }

  std::vector<T> slots_;
  std::vector<char> used_;
  std::vector<int> free_;
  int size_ = 0;
};

}  // namespace gangway::model
