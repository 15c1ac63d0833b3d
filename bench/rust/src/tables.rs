//! The tables, behind one face.

use crate::measure::Object;
use parking_lot::{Mutex, RwLock};
use sharded_slab::Slab;
use slotmap::{DefaultKey, SlotMap};

pub trait Shared: Sync + Send + 'static {
    type Id: Copy + Send + Sync + 'static;
    fn new() -> Self;
    fn insert(&self, object: Object) -> Self::Id;
    fn free(&self, id: Self::Id) -> bool;
    /// The object's first word; 0 if there is none.
    fn first_word(&self, id: Self::Id) -> u64;
}

pub struct Sharded(Slab<Object>);

impl Shared for Sharded {
    type Id = usize;

    fn new() -> Sharded {
        Sharded(Slab::new())
    }

    fn insert(&self, object: Object) -> usize {
        self.0.insert(object).expect("a slab has room")
    }

    fn free(&self, id: usize) -> bool {
        self.0.remove(id)
    }

    fn first_word(&self, id: usize) -> u64 {
        self.0.get(id).map_or(0, |object| object[0])
    }
}

pub struct Locked(RwLock<SlotMap<DefaultKey, Object>>);

impl Shared for Locked {
    type Id = DefaultKey;

    fn new() -> Locked {
        Locked(RwLock::new(SlotMap::new()))
    }

    fn insert(&self, object: Object) -> DefaultKey {
        self.0.write().insert(object)
    }

    fn free(&self, id: DefaultKey) -> bool {
        self.0.write().remove(id).is_some()
    }

    fn first_word(&self, id: DefaultKey) -> u64 {
        self.0.read().get(id).map_or(0, |object| object[0])
    }
}

pub struct MutexLocked(Mutex<SlotMap<DefaultKey, Object>>);

impl Shared for MutexLocked {
    type Id = DefaultKey;

    fn new() -> MutexLocked {
        MutexLocked(Mutex::new(SlotMap::new()))
    }

    fn insert(&self, object: Object) -> DefaultKey {
        self.0.lock().insert(object)
    }

    fn free(&self, id: DefaultKey) -> bool {
        self.0.lock().remove(id).is_some()
    }

    fn first_word(&self, id: DefaultKey) -> u64 {
        self.0.lock().get(id).map_or(0, |object| object[0])
    }
}
