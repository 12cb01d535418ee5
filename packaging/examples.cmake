# Builds the examples with an installed Sinew: cmake -S . -B build -DCMAKE_PREFIX_PATH=<prefix>
cmake_minimum_required(VERSION 3.22)
project(sinew_examples LANGUAGES C CXX)
find_package(Sinew REQUIRED)
find_package(Threads REQUIRED)

foreach(source fibers.c fibers.cpp)
  string(REPLACE "." "_" name ${source})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE Sinew::shared Sinew::mpi Threads::Threads)
endforeach()
target_compile_features(fibers_cpp PRIVATE cxx_std_20)
foreach(name stencil_events histogram producer_consumer)
  add_executable(${name} ${name}.cpp)
  target_link_libraries(${name} PRIVATE Sinew::region)
endforeach()
# heat.f90, halo.f90 and queue.f90: caf.sinew -O2 heat.f90 -o heat
