# Finds PCRE2 for 8-bit characters as the target PCRE2::8BIT, and sets PCRE2_VERSION.
#
# Debian has no CMake package for PCRE2. This file is installed with tend: the component text needs
# it if tend is a static library.
include(FindPackageHandleStandardArgs)

find_library(PCRE2_LIBRARY pcre2-8)
find_path(PCRE2_INCLUDE_DIR pcre2.h)
mark_as_advanced(PCRE2_LIBRARY PCRE2_INCLUDE_DIR)
if(PCRE2_INCLUDE_DIR)
  file(STRINGS ${PCRE2_INCLUDE_DIR}/pcre2.h lines REGEX "^#define PCRE2_(MAJOR|MINOR) ")
  string(REGEX REPLACE ".*MAJOR +([0-9]+).*MINOR +([0-9]+).*" "\\1.\\2" PCRE2_VERSION "${lines}")
endif()
find_package_handle_standard_args(
  PCRE2
  REQUIRED_VARS PCRE2_LIBRARY PCRE2_INCLUDE_DIR
  VERSION_VAR PCRE2_VERSION)

if(PCRE2_FOUND AND NOT TARGET PCRE2::8BIT)
  add_library(PCRE2::8BIT UNKNOWN IMPORTED)
  set_target_properties(
    PCRE2::8BIT PROPERTIES IMPORTED_LOCATION "${PCRE2_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                "${PCRE2_INCLUDE_DIR}")
endif()
