// The choice of where work is done, which every part of the library offers.
#pragma once

namespace cu264 {

// automatic: cuda where that works, otherwise cpu. Both give the same bytes.
enum class BackendChoice { automatic, cuda, cpu };

}  // namespace cu264
