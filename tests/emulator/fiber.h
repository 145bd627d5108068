// A function that takes turns with its caller, on a stack of its own. ThreadSanitizer sees a thread in it,
// for which nothing is in order that order_before() and order_after() do not put in order: one turn after
// another means nothing to it.
#pragma once

#include <boost/context/fiber.hpp>
#include <functional>

namespace cu264::emulator {

class Fiber {
 public:
  // Begins with the first turn. `body` must not return.
  explicit Fiber(std::function<void()> body);

  void resume();    // gives it a turn, which ends when it gives way; any thread may call this
  void give_way();  // ends the turn; the fiber itself calls this

 private:
  boost::context::fiber fiber_;   // while it waits
  boost::context::fiber caller_;  // while it has its turn
  void* const sanitized_;         // ThreadSanitizer's own object for the fiber, and for its caller
  void* sanitized_caller_ = nullptr;
};

// What a fiber or thread did before order_before(token) comes before what another one does after
// order_after(token), if the calls come in this order.
void order_before(void* token);
void order_after(void* token);

}  // namespace cu264::emulator
