# The files that `cmake --install` and CPack install, and their folders. The components correspond
# to Debian's packages. "runtime" is what programs built with tend need to run. "development" is
# what building such programs needs.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tend)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

# tend_install_library(TARGET SETS DESCRIPTION REQUIRES LIBRARIES): installs the library TARGET with
# a file for find_package and a file for pkg-config. SETS is the name of the export set, from which
# CMake writes the file for find_package. The file for pkg-config contains DESCRIPTION, the packages
# that the library REQUIRES, and the LIBRARIES that a static library is linked with.
function(tend_install_library target sets description requires libraries)
  install(
    TARGETS ${target} EXPORT ${sets}
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
    ARCHIVE COMPONENT development)
  install(EXPORT ${sets} NAMESPACE tend:: DESTINATION ${package_dir})

  # The .pc file finds the prefix relative to its own folder, so that the installed files may be
  # moved. It contains the absolute prefix only if the library folder is an absolute path.
  set(prefix ${CMAKE_INSTALL_PREFIX})
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    cmake_path(SET config_dir NORMALIZE /${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    cmake_path(RELATIVE_PATH config_dir BASE_DIRECTORY / OUTPUT_VARIABLE below_prefix)
    string(REGEX REPLACE "[^/]+" ".." to_prefix ${below_prefix})
    set(prefix "\${pcfiledir}/${to_prefix}")
  endif()
  foreach(kind IN ITEMS LIB INCLUDE)
    set(${kind}_folder ${CMAKE_INSTALL_${kind}DIR})
    if(NOT IS_ABSOLUTE ${${kind}_folder})
      string(PREPEND ${kind}_folder "\${prefix}/")
    endif()
  endforeach()
  set(private_libraries "")
  if(NOT BUILD_SHARED_LIBS)
    set(private_libraries ${libraries})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/core/tend.pc.in ${PROJECT_BINARY_DIR}/${target}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${target}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

tend_install_library(tend tendTargets "${PROJECT_DESCRIPTION}" "" "-lopenblas -lhwy -lstdc++ -lm -pthread")

# tend_install_part(NAME SETS DESCRIPTION LIBRARIES [MODULE]): installs the optional part NAME, and
# MODULE, the CMake module that finds the library that the part needs. If the part was not built,
# its headers are not installed either.
set(headers ${TEND_INSTALLED_HEADERS})
function(tend_install_part name sets description libraries)
  if(TARGET tend_${name})
    tend_install_library(tend_${name} ${sets} ${description} tend ${libraries})
    install(FILES ${ARGN} DESTINATION ${package_dir})
  else()
    list(FILTER headers EXCLUDE REGEX "^nn/${name}/")
    set(headers ${headers} PARENT_SCOPE)
  endif()
endfunction()

tend_install_part(text tendTextTargets "Tokenizers for tend" "-lpcre2-8" core/FindPCRE2.cmake)
tend_install_part(archives tendArchivesTargets ".npz and .pt files for tend" "-lzip" core/FindLibZip.cmake)
tend_install_part(distributed tendDistributedTargets "Training with tend on several processes" "-lmpi")

foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tend/${folder})
endforeach()
install(FILES attention/tend.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tend)

configure_package_config_file(
  core/tendConfig.cmake.in tendConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(tendConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tendConfig.cmake ${PROJECT_BINARY_DIR}/tendConfigVersion.cmake
              core/FindOpenBLAS.cmake
        DESTINATION ${package_dir})

set(TEND_MAINTAINER "The tend authors <tend@localhost>" CACHE STRING "Maintainer of the Debian packages, with an address")
set(CPACK_PACKAGE_CONTACT ${TEND_MAINTAINER})

# `cmake --workflow --preset package` makes the packages libtend and libtend-dev. For each package,
# Debian requires a folder with the licence and the changes.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT changelog CONTENT [[
tend (@PROJECT_VERSION@) unstable; urgency=medium

  * See CHANGELOG.md among the sources.

 -- @CPACK_PACKAGE_CONTACT@  @date@
]] @ONLY)
file(ARCHIVE_CREATE OUTPUT ${PROJECT_BINARY_DIR}/changelog.gz PATHS ${PROJECT_BINARY_DIR}/changelog
     FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
foreach(component IN ITEMS runtime development)
  set(doc ${CMAKE_INSTALL_DATAROOTDIR}/doc/libtend)
  if(component STREQUAL development)
    string(APPEND doc -dev)
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${doc} COMPONENT ${component})
  install(FILES LICENSE DESTINATION ${doc} RENAME copyright COMPONENT ${component})
endforeach()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR tend)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL TRUE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS TRUE)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libtend)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS TRUE)
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtend-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libtend (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "The shared libraries. tend trains attention models in C++. From the same seed
 it draws the same random numbers as PyTorch.")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Headers, and files for CMake and pkg-config.")
include(CPack)
