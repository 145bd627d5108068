// What Encoder::reconfigure changes, by the table of options.
#pragma once

#include <string>

#include "cu264/encoder.h"

namespace cu264::encoder {

// Returns the Config after the changes, which nobody has checked yet.
Config with_changes(Config config, const ConfigChanges& changes);

// Returns the names of the options among the changes that only the next clip can have, or an empty text.
std::string changes_of_next_clip(const ConfigChanges& changes);

// Returns whether both have the same goals (OptionGoal), as they must within a clip.
bool same_goals(const Config& a, const Config& b);

}  // namespace cu264::encoder
