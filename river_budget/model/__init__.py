"""What all estimators share: the model in a block, River's interface, calls of compiled passes."""
