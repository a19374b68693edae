//! The inventory's scripts, on both engines, and once on a cluster. Names with a
//! letter and a number are those of the cases that broke other systems.

#![cfg(test)]

mod building;
mod buying;
mod cluster;
mod faults;
mod knowing;
mod lapsing;
mod live;
mod looking;
mod model;
mod naming;
mod overdue;
mod refusing;
mod settling;
mod till;
