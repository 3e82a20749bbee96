# SPDX-License-Identifier: MIT
#
# The C tests. tests/unit/test_<file>.c: one cmocka program each, linked with a static archive of src in which our own
# assertions stop the program. tests/conformance and tests/fault: programs that are started as jobs; they use the shared
# library and the public headers only.
add_library(rocshmem_static STATIC EXCLUDE_FROM_ALL ${runtime_sources})
target_include_directories(rocshmem_static PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(rocshmem_static PUBLIC RS_DEBUG PRIVATE RS_VERSION="${PROJECT_VERSION}")
target_compile_options(rocshmem_static PRIVATE -Wpedantic -UNDEBUG)
target_link_libraries(rocshmem_static PUBLIC rs_flags ${CMAKE_DL_LIBS})

find_path(CMOCKA_INCLUDE_DIR cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)
file(GLOB unit_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/test_*.c)
file(GLOB unit_helpers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/*.c)
list(FILTER unit_helpers EXCLUDE REGEX "/test_[^/]*$")
if(NOT TARGET rocshmem_ucx)
    list(FILTER unit_tests EXCLUDE REGEX "/test_ucx[^/]*$")
    message(STATUS "no UCX: unit/test_ucx and unit/test_ucx_receive are not built")
elseif(RS_SANITIZE MATCHES "thread") # UCX is not built with it: its locks are not seen, and it crashes in a fork's child
    list(FILTER unit_tests EXCLUDE REGEX "/test_ucx\\.c$")
    message(STATUS "ThreadSanitizer: unit/test_ucx is not built")
endif()
foreach(source ${unit_tests})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source} ${unit_helpers})
    target_include_directories(${name} PRIVATE ${CMOCKA_INCLUDE_DIR} ${CMAKE_SOURCE_DIR}/tests/unit)
    target_link_libraries(${name} PRIVATE rocshmem_static ${CMOCKA_LIBRARY} m)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/unit)
    add_test(NAME unit/${name} COMMAND ${name})
    set_tests_properties(unit/${name} PROPERTIES TIMEOUT 300)
endforeach()
if(TARGET test_ucx_receive) # the plug-in's own functions, called one by one
    set(ucx_source ${CMAKE_SOURCE_DIR}/src/transport/ucx)
    target_sources(test_ucx_receive PRIVATE ${ucx_source}/receive.c ${ucx_source}/engine.c ${ucx_source}/library.c
        ${ucx_source}/descriptors.c)
    target_include_directories(test_ucx_receive SYSTEM PRIVATE ${UCX_INCLUDE_DIR})
endif()
if(TARGET test_ucx)
    target_compile_definitions(test_ucx PRIVATE RS_UCX_PLUGIN="$<TARGET_FILE:rocshmem_ucx>")
    add_dependencies(test_ucx rocshmem_ucx)
endif()

# Programs that are started as jobs. conformance says itself how; each of tests/fault/*.c is a program, in tests/fault of
# the build folder, started by the Python tests.
add_subdirectory(tests/fakegpu)
target_compile_definitions(test_proxy PRIVATE FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
add_dependencies(test_proxy fake_cuda)
add_subdirectory(tests/gpu)
add_subdirectory(tests/hipshim)
if(EXISTS ${CMAKE_SOURCE_DIR}/tests/conformance/CMakeLists.txt)
    add_subdirectory(tests/conformance)
endif()
# OpenSHMEM programs, when libshmem.so is whole.
if(TARGET shmem)
    get_target_property(shmem_parts shmem SOURCES)
    if(shmem_parts MATCHES "/wait\\.c")
        add_subdirectory(tests/shmem)
    endif()
endif()
file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fault/*.c)
foreach(source ${programs})
    get_filename_component(name ${source} NAME_WE)
    add_executable(fault-${name} ${source})
    target_link_libraries(fault-${name} PRIVATE rocshmem rs_flags m)
    set_target_properties(fault-${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fault)
endforeach()

# Programs in C++ against rocshmem.hpp and rocshmem.h, as jobs, in the oldest and the newest C++ that they have to be valid
# in. The project itself needs no C++ compiler.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER AND TARGET rocshmem-run)
    enable_language(CXX)
    file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cxx/*.cc)
    foreach(standard 14 20)
        add_executable(cxx-${standard} ${programs})
        set_target_properties(cxx-${standard} PROPERTIES CXX_STANDARD ${standard} CXX_STANDARD_REQUIRED ON
            CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/cxx)
        target_compile_options(cxx-${standard} PRIVATE -Wpedantic)
        target_link_libraries(cxx-${standard} PRIVATE rocshmem rs_flags)
        foreach(n 1 2 4)
            add_test(NAME cxx/${standard}/${n} COMMAND rocshmem-run -n ${n} $<TARGET_FILE:cxx-${standard}>)
            set_tests_properties(cxx/${standard}/${n} PROPERTIES TIMEOUT 120 ENVIRONMENT "ROCSHMEM_TIMEOUT=60")
        endforeach()
    endforeach()
else()
    message(STATUS "no C++ compiler: the tests of rocshmem.hpp are not built")
endif()

# rocshmem_init_attr with a communicator: one program, told what to do by its first word, under mpirun.
if(TARGET rocshmem_mpi AND MPIEXEC_EXECUTABLE)
    add_executable(mpi-comm tests/mpi/comm.c)
    set_target_properties(mpi-comm PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/mpi)
    target_link_libraries(mpi-comm PRIVATE rocshmem rs_flags MPI::MPI_C)
    add_dependencies(mpi-comm rocshmem_mpi)
    execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpiexec_version ERROR_QUIET)
    set(mpiexec_flags)
    if(mpiexec_version MATCHES "Open MPI|OpenRTE")
        set(mpiexec_flags --oversubscribe --allow-run-as-root)
    endif()
    foreach(what world halves uninitialized reversed null_comm busy)
        foreach(n 1 2 4)
            set(name mpi/${what}/${n})
            add_test(NAME ${name}
                COMMAND ${MPIEXEC_EXECUTABLE} ${mpiexec_flags} -n ${n} $<TARGET_FILE:mpi-comm> ${what})
            set_tests_properties(${name} PROPERTIES TIMEOUT 120 ENVIRONMENT "ROCSHMEM_TIMEOUT=60")
        endforeach()
    endforeach()
else()
    message(STATUS "no MPI: the tests of communicators are not built")
endif()

# The C examples, so that none can rot.
file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.c)
foreach(source ${examples})
    get_filename_component(name ${source} NAME_WE)
    add_executable(example-${name} ${source})
    target_link_libraries(example-${name} PRIVATE rocshmem rs_flags)
    set_target_properties(example-${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
endforeach()
