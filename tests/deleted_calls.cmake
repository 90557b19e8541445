# cmake -DCOMPILER=c++ -DINCLUDE=FOLDER -DHEADER=expr.h -P deleted_calls.cmake: whether a call of each function
# that the header deletes for an Expr is an error that names it.
file(STRINGS ${HEADER} deleted REGEX "^void [a-z0-9_]+\\(const Expr&.*\\) = delete;$")
set(calls "")
set(names "")
foreach(declaration IN LISTS deleted)
  string(REGEX REPLACE "^void ([a-z0-9_]+)\\((.*)\\) = delete;$" "\\1;\\2" parts "${declaration}")
  list(POP_FRONT parts name parameters)
  string(REGEX REPLACE ", [^,]* = [^,]*" "" parameters "${parameters}")  # have defaults
  string(REGEX REPLACE "const Expr&" "s" parameters "${parameters}")
  string(REGEX REPLACE "std::int64_t|double" "1" parameters "${parameters}")
  string(APPEND calls "  ${name}(${parameters});\n")
  list(APPEND names ${name})
endforeach()
file(WRITE deleted_calls.cpp "#include <tend/tend.h>
using namespace tend;
using namespace tend::attention;
void score(const Expr& s) {
${calls}}
")
set(all_errors -fmax-errors=0)
if(COMPILER MATCHES "clang")
  set(all_errors -ferror-limit=0)
endif()
execute_process(
  COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${all_errors} -I${INCLUDE} deleted_calls.cpp
  ERROR_VARIABLE errors)
foreach(name IN LISTS names)
  if(NOT errors MATCHES "deleted function[^\n]*[^a-z0-9_]${name}[^a-z0-9_]")
    message(SEND_ERROR "${name} of an Expr is no error that names it:\n${errors}")
  endif()
endforeach()
list(LENGTH names count)
if(count LESS 50)
  message(SEND_ERROR "found only ${count} deleted functions")
endif()
message(STATUS "${count} deleted functions")
