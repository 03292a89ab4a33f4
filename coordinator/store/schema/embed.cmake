# cmake -DOUT=<file.cc> "-DSQL=<a.sql;b.sql>" -P embed.cmake
# Writes Migrations(): one entry per file; the version is the number its name begins with.
set(entries "")
foreach(path ${SQL})
  get_filename_component(name ${path} NAME)
  if(NOT name MATCHES "^0*([0-9]+)_[a-z0-9_]+\\.sql$")
    message(FATAL_ERROR "${path}: a migration is named NNNN_words.sql")
  endif()
  set(version ${CMAKE_MATCH_1})
  file(READ ${path} text)
  string(APPEND entries "    {${version}, \"${name}\", R\"schema(${text})schema\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"coordinator/store/migrations.h\"

namespace ksearch {

const std::vector<Migration>& Migrations() {
  static const auto* const migrations = new std::vector<Migration>{
${entries}  };
  return *migrations;
}

}  // namespace ksearch
")
