//! Real engines for tests, and what stands between them and the code under test.

pub mod dynamo;
pub mod endpoint;
pub mod gateway;
pub mod queue;
pub mod wire;

pub use redis_server as redis;
