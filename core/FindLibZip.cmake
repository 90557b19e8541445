# Finds libzip, and the zlib that it needs, as the target LibZip::LibZip, and sets LibZip_VERSION.
#
# Debian's CMake package for libzip requires programs that its library package does not contain.
# This file is installed with tend: the component archives needs it if tend is a static library.
include(FindPackageHandleStandardArgs)

find_package(ZLIB QUIET)
find_library(LibZip_LIBRARY zip)
find_path(LibZip_INCLUDE_DIR zip.h)
mark_as_advanced(LibZip_LIBRARY LibZip_INCLUDE_DIR)
if(LibZip_INCLUDE_DIR)
  file(STRINGS ${LibZip_INCLUDE_DIR}/zipconf.h lines REGEX "^#define LIBZIP_VERSION ")
  string(REGEX REPLACE ".*\"([0-9.]+).*\".*" "\\1" LibZip_VERSION "${lines}")
endif()
find_package_handle_standard_args(
  LibZip
  REQUIRED_VARS LibZip_LIBRARY LibZip_INCLUDE_DIR ZLIB_FOUND
  VERSION_VAR LibZip_VERSION)

if(LibZip_FOUND AND NOT TARGET LibZip::LibZip)
  add_library(LibZip::LibZip UNKNOWN IMPORTED)
  set_target_properties(
    LibZip::LibZip
    PROPERTIES IMPORTED_LOCATION "${LibZip_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                     "${LibZip_INCLUDE_DIR}"
               INTERFACE_LINK_LIBRARIES ZLIB::ZLIB)
endif()
