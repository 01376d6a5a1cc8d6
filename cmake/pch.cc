// Exists so that the precompiled header of torch has a target to live in.
