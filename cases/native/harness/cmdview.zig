//! Reads the effects of an emitted TypeScript core (being written).
