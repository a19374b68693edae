//! Whose write made an item. The SDK sends a write again when its reply is lost,
//! and is then told that the item is there. Its content can't tell whether it is
//! one's own or another's who wished the same at the same time: the attempt can.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::StoreError;
use crate::table::{Item, decode, encode};

/// One attempt to create an item, named in it for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempt(Uuid);

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// None: from before attempts had names.
    #[serde(default)]
    attempt: Option<Uuid>,
}

impl Attempt {
    pub(super) fn new() -> Self {
        Self(Uuid::new_v4())
    }

    /// The attribute that names it.
    pub(super) fn attributes(self) -> Result<Item, StoreError> {
        encode(&Record { attempt: Some(self.0) })
    }

    /// Whether it is the one that created this item.
    pub(super) fn has_created(self, item: &Item) -> Result<bool, StoreError> {
        let record: Record = decode("attempt", item.clone())?;
        Ok(record.attempt == Some(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_knows_its_own_item_from_anothers() {
        let (ours, theirs) = (Attempt::new(), Attempt::new());
        let item = ours.attributes().unwrap();
        assert!(ours.has_created(&item).unwrap());
        assert!(!theirs.has_created(&item).unwrap());
        assert!(!ours.has_created(&Item::new()).unwrap(), "an item from before");
    }
}
