# cmake -DFOLDER=counts -DOUTPUT=counts.json -P merge_counts.cmake
#
# Merges the numbers that the tests of the operation table counted (tests/counts.h) into one file, and
# prints them. A number that is missing or zero is an error. FOLDER is deleted, so that the next run
# starts from zero.
set(names operations rows first_order_checks second_order_checks layouts torch_comparisons fuzz_programs)

set(lines "")
foreach(name IN LISTS names)
  if(NOT EXISTS ${FOLDER}/${name})
    message(FATAL_ERROR "${name} was not counted: no file ${FOLDER}/${name}")
  endif()
  file(STRINGS ${FOLDER}/${name} number LIMIT_COUNT 1)
  if(NOT number GREATER 0)
    message(FATAL_ERROR "${name} is ${number}")
  endif()
  list(APPEND lines "  \"${name}\": ${number}")
endforeach()
file(REMOVE_RECURSE ${FOLDER})

list(JOIN lines ",\n" text)
file(WRITE ${OUTPUT} "{\n${text}\n}\n")
message("{\n${text}\n}")
