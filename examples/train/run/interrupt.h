#pragma once

namespace train {

/// From now on the first Ctrl-C (SIGINT) is only noted; a second one ends the program at once.
void note_interrupts();

bool interrupted();

}  // namespace train
