// Where work is done: the choice that every part of the library offers.
#pragma once

namespace cu264 {

// automatic: cuda where that works, otherwise cpu. Both give the same bytes.
enum class BackendChoice { automatic, cuda, cpu };

}  // namespace cu264
