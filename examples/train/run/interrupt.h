#pragma once

namespace train {

/// From now on the first Ctrl-C (SIGINT) or SIGTERM is only noted; a second one of either ends the
/// program at once.
void note_interrupts();

/// The signal that was noted, or 0.
int interruption();

}  // namespace train
