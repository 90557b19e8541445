# cmake -DNM=nm -DLIBRARY=libtend.so -P exports.cmake: whether a shared library exports what is tend's,
# and no more. Hidden are kernels, but for the elementwise arithmetic that tend::distributed uses, and the
# templates of other libraries.
execute_process(
  COMMAND ${NM} -D -C --defined-only ${LIBRARY}
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," output "${output}")
string(REPLACE "\n" ";" lines "${output}")
set(functions 0)
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^[0-9a-f]+ ([A-Za-z]) (.*)")
    continue()
  endif()
  set(symbol "${CMAKE_MATCH_2}")
  if(CMAKE_MATCH_1 STREQUAL "T")
    math(EXPR functions "${functions} + 1")
    if(symbol MATCHES "^tend::kernels::"
       AND NOT symbol MATCHES "::(abs|add|add_scaled|div|floor_divide|fmod|lerp|maximum|minimum|mul|neg|pow|remainder|sign|sub|trunc_divide)\\(")
      message(SEND_ERROR "exports a kernel: ${symbol}")
    endif()
  endif()
  if(NOT symbol MATCHES "tend::")
    message(SEND_ERROR "exports what is not tend's: ${symbol}")
  endif()
endforeach()
if(functions LESS 1000)
  message(SEND_ERROR "exports only ${functions} functions")
endif()
message(STATUS "${functions} functions")
