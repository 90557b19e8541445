// The main function for Catch2 2.13. Catch2 3.x has its own, so this file is not built with it.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
