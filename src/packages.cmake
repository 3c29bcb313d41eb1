# Debian packages by CPack: the library, what programs are built with, and the command. `make package` writes them.

set(CPACK_PACKAGE_NAME rig)
set(CPACK_PACKAGE_VENDOR rig)
set(CPACK_PACKAGE_CONTACT "rig maintainers <maintainers@rig.invalid>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL library development)
if(TARGET rigblas)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
get_target_property(soversion rig SOVERSION)
set(library librig${soversion})
set(this_library "${library} (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Sparse algebra over semirings, on CPUs and CUDA GPUs
 One call multiplies sparse and dense matrices over any semiring.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librig-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${this_library}, g++")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Sparse algebra over semirings: headers
 Headers, CMake's package and pkg-config's file of librig.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME rigblas-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${this_library}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "Sparse algebra over semirings: the command rigblas
 Describes, converts and measures matrices, and runs graph algorithms on them.")

# Where Debian looks for it; `cmake --install` of all components leaves it out.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} name)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright COMPONENT ${component} EXCLUDE_FROM_ALL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME})
endforeach()
include(CPack)
