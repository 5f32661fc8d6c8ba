// The same for tests.
#include "cmake/pch/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
