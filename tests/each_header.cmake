# Compiles a program of each installed header alone, as a user may include it.
#
#   cmake -DCOMPILER=c++ -DINCLUDE=build/release/include -DLIST=installed_headers.txt -P each_header.cmake
file(STRINGS ${LIST} headers REGEX "\\.h$")
list(LENGTH headers count)
if(count EQUAL 0)
  message(FATAL_ERROR "${LIST} names no header")
endif()

set(failed "")
foreach(header IN LISTS headers)
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE} -include tend/${header} -x c++ /dev/null
    RESULT_VARIABLE result
    ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    list(APPEND failed ${header})
    message(${errors})
  endif()
endforeach()
if(failed)
  message(FATAL_ERROR "these headers do not include what they need: ${failed}")
endif()
message("${count} headers compile alone")
