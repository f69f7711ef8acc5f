// The samples of a recording. A list of them all would need several times the memory of their
// positions, so that each is decoded from its record when it is used.
#pragma once

#include "perfdata/contents/side_band.hpp"
#include "perfdata/records/attribute_table.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>

namespace ptlens::perfdata {

// Decodes the sample. Its record was checked when it was read.
[[nodiscard]] Sample decode_sample(const SampleRecord& record, const AttributeTable& attributes);

// A view of the samples in order of time. Valid as long as its recording.
class SampleView {
public:
  SampleView(const std::deque<SampleRecord>& records, const AttributeTable& attributes)
      : records_(&records), attributes_(&attributes) {}

  class Iterator {
  public:
    using value_type = Sample;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;

    Iterator() = default;
    Iterator(std::deque<SampleRecord>::const_iterator at, const AttributeTable* attributes)
        : at_(at), attributes_(attributes) {}

    Sample operator*() const { return decode_sample(*at_, *attributes_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

  private:
    std::deque<SampleRecord>::const_iterator at_;
    const AttributeTable* attributes_ = nullptr;
  };

  [[nodiscard]] Iterator begin() const { return {records_->begin(), attributes_}; }
  [[nodiscard]] Iterator end() const { return {records_->end(), attributes_}; }
  [[nodiscard]] std::size_t size() const { return records_->size(); }
  [[nodiscard]] bool empty() const { return records_->empty(); }
  [[nodiscard]] Sample operator[](std::size_t index) const {
    return decode_sample((*records_)[index], *attributes_);
  }

private:
  const std::deque<SampleRecord>* records_;
  const AttributeTable* attributes_;
};

// Orders the records by time, where they are not yet in this order.
void order_samples(SideBand& side_band, const AttributeTable& attributes);

} // namespace ptlens::perfdata
