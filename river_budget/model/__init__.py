"""What all estimators share: the model in a block, River's interface, calls of compiled passes."""

from ..messages.first_use import announce_compilation

announce_compilation()
