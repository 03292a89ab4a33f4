# cmake -DOUT=<file.cc> "-DFILES=<index.html;app.js;...>" -P embed.cmake
# Writes Assets() and AssetsVersion(). @VERSION@ in index.html becomes the version: a digest of all files.
set(all "")
foreach(path ${FILES})
  file(READ ${path} text)
  string(APPEND all "${path}\n${text}\n")
endforeach()
get_filename_component(folder ${CMAKE_CURRENT_LIST_DIR} ABSOLUTE)
string(REPLACE "${folder}" "" all "${all}")
string(SHA256 version "${all}")
string(SUBSTRING ${version} 0 16 version)

set(entries "")
foreach(path ${FILES})
  get_filename_component(name ${path} NAME)
  get_filename_component(extension ${path} LAST_EXT)
  file(READ ${path} text)
  if(text MATCHES "\\)asset\"")
    message(FATAL_ERROR "${path}: may not contain )asset\"")
  endif()
  if(name STREQUAL "index.html")
    string(REPLACE "@VERSION@" "${version}" text "${text}")
    set(url "/")
  else()
    set(url "/${name}")
  endif()
  if(extension STREQUAL ".html")
    set(type "text/html; charset=utf-8")
  elseif(extension STREQUAL ".css")
    set(type "text/css; charset=utf-8")
  elseif(extension STREQUAL ".js")
    set(type "text/javascript; charset=utf-8")
  elseif(extension STREQUAL ".svg")
    set(type "image/svg+xml")
  else()
    message(FATAL_ERROR "${path}: no content type is known for ${extension}")
  endif()
  string(APPEND entries "      {\"${url}\", \"${type}\", R\"asset(${text})asset\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"coordinator/dashboard/asset.h\"

namespace ksearch::dashboard {

const std::vector<Asset>& Assets() {
  static const auto* const assets = new std::vector<Asset>{
${entries}  };
  return *assets;
}

absl::string_view AssetsVersion() { return \"${version}\"; }

}  // namespace ksearch::dashboard
")
