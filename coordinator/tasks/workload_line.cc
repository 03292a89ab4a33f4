#include "coordinator/tasks/workload_line.h"

#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

LocatedJson RecipeToJson(const v1::InputRecipe& recipe) {
  LocatedJson json = LocatedJson::Object();
  json.Set("type", LocatedJson::String("random"));
  switch (recipe.recipe_case()) {
    case v1::InputRecipe::kRandom:
    case v1::InputRecipe::RECIPE_NOT_SET:
      if (recipe.random().scale() != 0) {
        json.Set("scale", LocatedJson::Float(recipe.random().scale()));
      }
      if (recipe.random().offset() != 0) {
        json.Set("offset", LocatedJson::Float(recipe.random().offset()));
      }
      if (recipe.random().distribution() == v1::RandomRecipe::CAUCHY) {
        json.Set("distribution", LocatedJson::String("cauchy"));
      }
      if (recipe.random().distribution() == v1::RandomRecipe::STUDENT2) {
        json.Set("distribution", LocatedJson::String("student2"));
      }
      if (recipe.random().distribution() == v1::RandomRecipe::UNIFORM) {
        json.Set("distribution", LocatedJson::String("uniform"));
      }
      if (recipe.random().probability() != 0) {
        json.Set("probability", LocatedJson::Float(recipe.random().probability()));
      }
      if (recipe.random().least() != 0 || recipe.random().most() != 0) {
        json.Set("least", LocatedJson::Integer(recipe.random().least()));
        json.Set("most", LocatedJson::Integer(recipe.random().most()));
      }
      if (recipe.random().raise_count() > 0) {
        LocatedJson& raise = json.Set("raise", LocatedJson::Object());
        raise.Set("first", LocatedJson::Integer(recipe.random().raise_first()));
        raise.Set("count", LocatedJson::Integer(recipe.random().raise_count()));
        raise.Set("by", LocatedJson::Float(recipe.random().raise()));
      }
      break;
    case v1::InputRecipe::kMade:
      json.Set("recipe", LocatedJson::String("make_inputs"));
      break;
    case v1::InputRecipe::kScalar: {
      json.members[0].value.text = "scalar";
      const v1::ScalarRecipe& scalar = recipe.scalar();
      switch (scalar.value_case()) {
        case v1::ScalarRecipe::kFloatValue:
          json.Set("value", LocatedJson::Float(scalar.float_value()));
          break;
        case v1::ScalarRecipe::kBoolValue:
          json.Set("value", LocatedJson::Bool(scalar.bool_value()));
          break;
        default:
          json.Set("value", LocatedJson::Integer(scalar.int_value()));
      }
      break;
    }
    case v1::InputRecipe::kIndptr:
      json.Set("recipe", LocatedJson::String("indptr"));
      json.Set("total_axis", LocatedJson::String(recipe.indptr().total_axis()));
      if (recipe.indptr().min_length() != 0) {
        json.Set("min_length", LocatedJson::Integer(recipe.indptr().min_length()));
      }
      if (!recipe.indptr().plus().empty()) {
        json.Set("plus", LocatedJson::String(recipe.indptr().plus()));
      }
      break;
    case v1::InputRecipe::kPageIndices:
      json.Set("recipe", LocatedJson::String("page_indices"));
      json.Set("pool_axis", LocatedJson::String(recipe.page_indices().pool_axis()));
      json.Set("contiguous", LocatedJson::Bool(recipe.page_indices().contiguous()));
      break;
    case v1::InputRecipe::kRecorded:  // never occurs in a file
    case v1::InputRecipe::kSafetensors:
      json.members[0].value.text = "safetensors";
      json.Set("path", LocatedJson::String(recipe.safetensors().path()));
      json.Set("tensor_key", LocatedJson::String(recipe.safetensors().tensor_key()));
      break;
  }
  return json;
}

}  // namespace

std::string WorkloadToJsonLine(const std::string& definition_name, const v1::Workload& workload) {
  LocatedJson json = LocatedJson::Object();
  json.Set("definition", LocatedJson::String(definition_name));
  json.Set("solution", LocatedJson());
  LocatedJson& body = json.Set("workload", LocatedJson::Object());
  body.Set("uuid", LocatedJson::String(workload.uuid()));
  LocatedJson& axes = body.Set("axes", LocatedJson::Object());
  for (const v1::AxisValue& axis : workload.axes()) {
    axes.Set(axis.axis(), LocatedJson::Integer(axis.value()));
  }
  LocatedJson& inputs = body.Set("inputs", LocatedJson::Object());
  for (const v1::InputRecipe& recipe : workload.inputs()) {
    inputs.Set(recipe.input(), RecipeToJson(recipe));
  }
  json.Set("evaluation", LocatedJson());
  return WriteJson(json, -1);
}

}  // namespace ksearch
