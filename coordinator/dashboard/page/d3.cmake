# cmake -DOUT=<d3.js> "-DMODULES=<d3-array.min.js;...>" "-DNOTICES=<copyright;...>" -P d3.cmake
# Writes modules of d3, each listed after those that it needs, as one module of the page.
# It exports `d3` and leaves no global name. The notices come first, as comments.
set(text "")
foreach(path ${NOTICES})
  file(READ ${path} notice)
  string(REPLACE "\n" "\n// " notice "// ${notice}")
  string(APPEND text "${notice}\n")
endforeach()
# Each module adds its names to the property `d3` of what it takes for the global object.
string(APPEND text "const scope = {};\n(function (globalThis) {\n")
foreach(path ${MODULES})
  file(READ ${path} module)
  string(APPEND text "${module}\n")
endforeach()
string(APPEND text "}).call(scope, scope);\nexport const d3 = scope.d3;\n")
file(WRITE ${OUT} "${text}")
