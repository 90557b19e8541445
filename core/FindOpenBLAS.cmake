# Finds OpenBLAS, of any flavour (pthread, openmp, serial), as the target OpenBLAS::OpenBLAS.
#
# Debian's own package file names one flavour by its absolute path. This file looks for
# libopenblas.so instead, so that the flavour may change without a new build. This file is installed
# with tend: tend's CMake package needs it if tend is a static library.
include(FindPackageHandleStandardArgs)

find_library(OpenBLAS_LIBRARY openblas)
# Prefers a cblas.h in a folder of OpenBLAS, since the common cblas.h may belong to another BLAS.
find_path(
  OpenBLAS_INCLUDE_DIR cblas.h
  PATH_SUFFIXES openblas-pthread openblas-openmp openblas-serial openblas)
mark_as_advanced(OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR)

if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(
    OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION "${OpenBLAS_LIBRARY}"
                                  INTERFACE_INCLUDE_DIRECTORIES "${OpenBLAS_INCLUDE_DIR}")
endif()
