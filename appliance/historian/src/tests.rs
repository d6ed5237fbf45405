//! The historian as a whole, against a plain oracle and on disks that fail and forget.

mod clock;
mod crash;
mod damage;
mod full;
mod many;
mod model;
mod rig;
mod size;
mod together;
mod values;
