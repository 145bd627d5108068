// Calls that must throw.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "cu264/status.h"

namespace cu264::test {

// Returns the text of the Error with this code that `call` must throw.
template <class Call>
std::string error_of(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace cu264::test
