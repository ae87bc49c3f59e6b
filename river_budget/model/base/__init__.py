"""What every model is: a block with parameters, that can be copied and described."""
