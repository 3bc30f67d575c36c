//! What a hook says, in one vocabulary for all agents.
