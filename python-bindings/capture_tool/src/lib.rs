//! The shared library that captures an unchanged program from start to exit
