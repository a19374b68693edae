//! The live-authorizer function.
