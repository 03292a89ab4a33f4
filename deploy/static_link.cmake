# Included instead of the shared libraries' packages when KSEARCH_STATIC is on: the names that the
# tree links (gRPC::grpc++, absl::status, ...) mean one group of Debian's archives, so that a binary
# needs only the machine's C library. Libraries without an archive in Debian (those of libcurl) stay
# shared, and only the coordinator links them.
set(archives)
foreach(name grpc++_reflection grpc++ grpc gpr address_sorting upb re2 cares protobuf ssl crypto z)
  find_library(ARCHIVE_${name} lib${name}.a REQUIRED)
  mark_as_advanced(ARCHIVE_${name})
  list(APPEND archives ${ARCHIVE_${name}})
endforeach()
get_filename_component(archive_folder ${ARCHIVE_protobuf} DIRECTORY)
file(GLOB absl_archives ${archive_folder}/libabsl_*.a)
list(APPEND archives ${absl_archives})

add_library(ksearch_archives INTERFACE)
target_link_libraries(ksearch_archives INTERFACE
  "$<LINK_GROUP:RESCAN,${archives}>" Threads::Threads ${CMAKE_DL_LIBS})

# Every name of a library in Debian's Abseil package.
find_file(ABSL_TARGETS abslTargets.cmake PATHS ${archive_folder}/cmake/absl NO_DEFAULT_PATH REQUIRED)
file(STRINGS ${ABSL_TARGETS} absl_lines REGEX "^add_library\\(absl::")
set(names gRPC::grpc++ gRPC::grpc++_reflection OpenSSL::Crypto OpenSSL::SSL)
foreach(line ${absl_lines})
  string(REGEX REPLACE "^add_library\\((absl::[a-z0-9_]+).*" "\\1" name "${line}")
  list(APPEND names ${name})
endforeach()
foreach(name ${names})
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${name} INTERFACE ksearch_archives)
endforeach()

# Only the programs come from these packages.
find_package(Protobuf REQUIRED)
set_target_properties(protobuf::libprotobuf PROPERTIES
  IMPORTED_LOCATION ${ARCHIVE_protobuf} IMPORTED_LOCATION_RELEASE ${ARCHIVE_protobuf}
  IMPORTED_LOCATION_DEBUG ${ARCHIVE_protobuf} INTERFACE_LINK_LIBRARIES ksearch_archives)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
add_executable(gRPC::grpc_cpp_plugin IMPORTED GLOBAL)
set_target_properties(gRPC::grpc_cpp_plugin PROPERTIES IMPORTED_LOCATION ${GRPC_CPP_PLUGIN})

find_library(SQLITE_ARCHIVE libsqlite3.a REQUIRED)
add_library(SQLite::SQLite3 INTERFACE IMPORTED GLOBAL)
target_link_libraries(SQLite::SQLite3 INTERFACE ${SQLITE_ARCHIVE} m ${CMAKE_DL_LIBS})
find_package(CURL REQUIRED)
find_library(SECCOMP_LIBRARY libseccomp.a REQUIRED)
find_library(YAML_LIBRARY libyaml.a REQUIRED)

# Symbols of archives stay inside: libcurl brings a shared OpenSSL of its own into the process.
# The C++ runtime is Debian's archive too; it asks for arc4random, which glibc has since 2.36.
add_library(ksearch_static_flags INTERFACE)
target_link_options(ksearch_static_flags INTERFACE -static-libstdc++ -static-libgcc
  -Wl,--gc-sections -Wl,--exclude-libs,ALL)
add_library(ksearch_older_libc OBJECT ${CMAKE_SOURCE_DIR}/deploy/older_libc.cc)
