// The files of tests/data/pt, which torch.save wrote, and their values (tests/data/make_pt.py).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <tend/nn/archives/pt.h>

#include "tests/catch.h"
#include "tests/nn/files/expected.h"

#include <nlohmann/json.hpp>

namespace tend::test {

inline std::filesystem::path pt_folder() {
  return TEND_TEST_DATA "/pt";
}

inline void check_value(const nn::PtValue& got, const nlohmann::json& wanted);

inline void check_items(const nn::PtList* got, const nlohmann::json& wanted) {
  REQUIRE(got != nullptr);
  REQUIRE(got->size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) check_value((*got)[i], wanted[i]);
}

inline void check_dict(const nn::PtDict* got, const nlohmann::json& wanted) {
  REQUIRE(got != nullptr);
  REQUIRE(got->size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& key = (*got)[i].key;
    const auto* text = std::get_if<std::string>(&key);
    INFO(wanted[i][0]);
    CHECK((text ? *text : std::to_string(std::get<std::int64_t>(key))) ==
          wanted[i][0].get<std::string>());
    check_value((*got)[i].value, wanted[i][1]);
  }
}

inline void check_number(const nn::PtValue& got, const nlohmann::json& wanted) {
  const std::string text = wanted.at("number").get<std::string>();
  if (wanted.at("is_real").get<bool>()) {
    REQUIRE(got.as<double>() != nullptr);
    CHECK(*got.as<double>() == std::strtod(text.c_str(), nullptr));
  } else {
    REQUIRE(got.as<std::int64_t>() != nullptr);
    CHECK(*got.as<std::int64_t>() == std::stoll(text));
  }
}

// Values as make_pt.py describes them.
inline void check_value(const nn::PtValue& got, const nlohmann::json& wanted) {
  if (wanted.is_null()) {
    CHECK(got.is_none());
  } else if (wanted.is_boolean()) {
    REQUIRE(got.as<bool>() != nullptr);
    CHECK(*got.as<bool>() == wanted.get<bool>());
  } else if (wanted.is_string()) {
    REQUIRE(got.as<std::string>() != nullptr);
    CHECK(*got.as<std::string>() == wanted.get<std::string>());
  } else if (wanted.contains("number")) {
    check_number(got, wanted);
  } else if (wanted.contains("dict")) {
    check_dict(got.as<nn::PtDict>(), wanted.at("dict"));
  } else if (wanted.contains("list")) {
    check_items(got.as<nn::PtList>(), wanted.at("list"));
  } else if (wanted.contains("tuple")) {
    REQUIRE(got.as<nn::PtTuple>() != nullptr);
    check_items(&got.as<nn::PtTuple>()->items, wanted.at("tuple"));
  } else {
    const Tensor* tensor = got.as<Tensor>();
    REQUIRE(tensor != nullptr);
    check_same(*tensor, wanted);
    CHECK(tensor->strides() == Shape(wanted.at("strides").get<std::vector<std::int64_t>>()));
    CHECK(tensor->requires_grad() == wanted.at("requires_grad").get<bool>());
    CHECK(tensor->is_leaf());
  }
}

}  // namespace tend::test
