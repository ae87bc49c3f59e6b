"""What all estimators share: the model in a block, River's interface, inputs, calls of compiled passes."""
