#include "coordinator/proposer/language/language_text.h"

#include "common/language.h"
#include "coordinator/proposer/language/cpp_text.h"
#include "coordinator/proposer/language/cuda_text.h"
#include "coordinator/proposer/language/python_text.h"

namespace ksearch {

const LanguageText& TextOf(v1::Language language) {
  static const CppText cpp;
  static const CudaText cuda;
  static const PythonText python;
  switch (FactsOf(language).id) {
    case v1::LANGUAGE_CUDA:
      return cuda;
    case v1::LANGUAGE_PYTHON:
      return python;
    default:
      return cpp;
  }
}

}  // namespace ksearch
