# Sets KSEARCH_CUDA_HEADER_TEXT in the including folder: ksearch_cuda.h with its parts inserted.
set(header_folder ${CMAKE_CURRENT_LIST_DIR})
file(READ ${header_folder}/ksearch_cuda.h KSEARCH_CUDA_HEADER_TEXT)
file(GLOB cuda_header_parts CONFIGURE_DEPENDS RELATIVE ${header_folder} ${header_folder}/header/*.h)
foreach(part ${cuda_header_parts})
  file(READ ${header_folder}/${part} part_text)
  string(REPLACE "#include \"${part}\"\n" "${part_text}" KSEARCH_CUDA_HEADER_TEXT
         "${KSEARCH_CUDA_HEADER_TEXT}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header_folder}/${part})
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header_folder}/ksearch_cuda.h)
if(KSEARCH_CUDA_HEADER_TEXT MATCHES "#include \"")
  message(FATAL_ERROR "ksearch_cuda.h includes something that is not part of it: ${CMAKE_MATCH_0}")
endif()
