# The shared library exports the names of exports.txt alone, by a version script of the linker. Tests and benchmarks of
# internals link the same objects again, as rig_internals. Instrumented builds export all they have.

# What a program needs to compile against rig; it links rig::rig or rig_internals besides.
add_library(rig_usage INTERFACE)
target_include_directories(rig_usage INTERFACE $<TARGET_PROPERTY:rig,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_features(rig_usage INTERFACE cxx_std_20)
target_link_libraries(rig_usage INTERFACE OpenMP::OpenMP_CXX)

if(NOT RIG_SHARED OR RIG_SANITIZE)
  add_library(rig_internals ALIAS rig)
  return()
endif()

# A name's prefixes as the compiler writes them: functions and const members, tables of types, statics of functions.
set(prefixes _ZN _ZNK _ZNR _ZNO _ZNKR _ZTVN _ZTIN _ZTSN _ZGVN _ZZN _ZZNK _ZGVZN _ZGVZNK)
set(exports ${CMAKE_CURRENT_LIST_DIR}/exports.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${exports})
file(STRINGS ${exports} names REGEX "^rig::")
set(patterns "rig_[a-z]*;")
foreach(name IN LISTS names)
  string(REPLACE "::" ";" parts ${name})
  set(mangled "")
  foreach(part IN LISTS parts)
    string(LENGTH ${part} length)
    string(APPEND mangled ${length}${part})
  endforeach()
  foreach(prefix IN LISTS prefixes)
    string(APPEND patterns " ${prefix}${mangled}*;")
  endforeach()
endforeach()
set(script ${PROJECT_BINARY_DIR}/exports.map)
file(CONFIGURE OUTPUT ${script} CONTENT "{ global: ${patterns} local: *; };\n" @ONLY)
target_link_options(rig PRIVATE -Wl,--version-script=${script})
set_property(TARGET rig APPEND PROPERTY LINK_DEPENDS ${script})

if(RIG_TESTS OR RIG_BENCH)
  add_library(rig_internals SHARED $<TARGET_OBJECTS:rig>)
  set_target_properties(rig_internals PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(rig_internals PUBLIC rig_usage PRIVATE ZLIB::ZLIB)
  if(cuda)
    target_link_libraries(rig_internals PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
  endif()
endif()
