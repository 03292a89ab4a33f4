# cmake -DOUT=<file.cc> -DGZIP=<gzip> "-DFILES=<index.html;app.js;...>" -P embed.cmake
# Writes Assets() and AssetsVersion(). @VERSION@ in index.html becomes the version: a digest of all files.
set(all "")
foreach(path ${FILES})
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND all "${name}\n${text}\n")
endforeach()
string(SHA256 version "${all}")
string(SUBSTRING ${version} 0 16 version)

set(compressed "")
set(entries "")
set(number 0)
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
  file(WRITE ${OUT}.plain "${text}")
  # Without a name and a time, so that the same text gives the same bytes.
  execute_process(COMMAND ${GZIP} -9 -n -c ${OUT}.plain OUTPUT_FILE ${OUT}.gz COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${OUT}.gz bytes HEX)
  string(LENGTH "${bytes}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(APPEND compressed "constexpr char kCompressed${number}[] = \"${bytes}\";\n")
  string(APPEND entries "      {\"${url}\", \"${type}\", R\"asset(${text})asset\",\n"
                        "       absl::string_view(kCompressed${number}, ${size})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(REMOVE ${OUT}.plain ${OUT}.gz)
file(WRITE ${OUT} "#include \"coordinator/dashboard/asset.h\"

namespace ksearch::dashboard {
namespace {

${compressed}
}  // namespace

const std::vector<Asset>& Assets() {
  static const auto* const assets = new std::vector<Asset>{
${entries}  };
  return *assets;
}

absl::string_view AssetsVersion() { return \"${version}\"; }

}  // namespace ksearch::dashboard
")
