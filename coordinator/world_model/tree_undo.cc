#include "coordinator/world_model/tree_undo.h"

#include <utility>

#include "common/log.h"

namespace ksearch {

TreeUndo::TreeUndo(v1::WorldModel* model) : model_(*model), tombstones_(model->tombstones_size()) {
  rest_.set_kernel_summary(model->kernel_summary());
  *rest_.mutable_open_questions() = model->open_questions();
  rest_.set_root_id(model->root_id());
  rest_.set_active_node_id(model->active_node_id());
  rest_.set_next_insertion_index(model->next_insertion_index());
  rest_.set_revision(model->revision());
}

void TreeUndo::WillChange(const v1::Node& node) {
  changes_.push_back({Kind::kChanged, PlaceOf(node), node});
}

void TreeUndo::WillRemove(const v1::Node& node) {
  changes_.push_back({Kind::kRemoved, PlaceOf(node), node});
}

int TreeUndo::PlaceOf(const v1::Node& node) const {
  int place = model_.nodes_size() - 1;
  while (place >= 0 && &model_.nodes(place) != &node) --place;
  CHECK(place >= 0);
  return place;
}

void TreeUndo::Undo() {
  auto* const nodes = model_.mutable_nodes();
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    switch (change->kind) {
      case Kind::kChanged:
        nodes->at(change->place) = std::move(change->before);
        break;
      case Kind::kAppended:
        nodes->RemoveLast();
        break;
      case Kind::kRemoved:
        *nodes->Add() = std::move(change->before);
        for (int place = nodes->size() - 1; place > change->place; --place) {
          nodes->SwapElements(place, place - 1);
        }
        break;
    }
  }
  changes_.clear();
  if (model_.tombstones_size() > tombstones_) {
    model_.mutable_tombstones()->DeleteSubrange(tombstones_,
                                                model_.tombstones_size() - tombstones_);
  }
  model_.set_kernel_summary(rest_.kernel_summary());
  *model_.mutable_open_questions() = rest_.open_questions();
  model_.set_root_id(rest_.root_id());
  model_.set_active_node_id(rest_.active_node_id());
  model_.set_next_insertion_index(rest_.next_insertion_index());
  model_.set_revision(rest_.revision());
}

}  // namespace ksearch
