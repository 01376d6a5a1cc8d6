#include "study/shared_data.h"

#include "study/plan.h"

namespace lengthwise {

std::shared_ptr<const DataSet> SharedData::get(const DataConfig& config, int threads) {
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard guard(mutex_);
    std::shared_ptr<Slot>& entry = slots_[data_identity(config)];
    if (!entry) entry = std::make_shared<Slot>();
    slot = entry;
  }
  const std::lock_guard building(slot->mutex);
  std::shared_ptr<const DataSet> data = slot->data.lock();
  if (!data) {
    data = std::make_shared<const DataSet>(build_data_set(config, threads));
    slot->data = data;
  }
  const std::lock_guard guard(mutex_);
  std::erase(recent_, data);
  recent_.push_back(data);
  if (recent_.size() > kept_) recent_.pop_front();
  return data;
}

}  // namespace lengthwise
