//! The tables, behind one face.

use crate::measure::Object;
use parking_lot::{Mutex, RwLock};
use sharded_slab::Slab;
use slotmap::{DefaultKey, Key, KeyData, SlotMap};

/// What a table holds: objects that only fill memory, values of 8 bytes, or what tells when it is
/// dropped.
pub trait Value: Sync + Send + 'static {
    fn first_word(&self) -> u64;
}

impl Value for Object {
    fn first_word(&self) -> u64 {
        self[0]
    }
}

impl Value for u64 {
    fn first_word(&self) -> u64 {
        *self
    }
}

pub trait Shared<V = Object>: Sync + Send + 'static {
    type Id: Copy + Send + Sync + 'static;
    fn new() -> Self;
    fn insert(&self, object: V) -> Self::Id;
    fn free(&self, id: Self::Id) -> bool;
    /// The object's first word; 0 if there is none.
    fn first_word(&self, id: Self::Id) -> u64;
    /// An id as a number, which threads exchange.
    fn bits(id: Self::Id) -> u64;
    fn id(bits: u64) -> Self::Id;
}

pub struct Sharded<V = Object>(Slab<V>);

impl<V: Value> Shared<V> for Sharded<V> {
    type Id = usize;

    fn new() -> Sharded<V> {
        Sharded(Slab::new())
    }

    fn insert(&self, object: V) -> usize {
        self.0.insert(object).expect("a slab has room")
    }

    fn free(&self, id: usize) -> bool {
        self.0.remove(id)
    }

    fn first_word(&self, id: usize) -> u64 {
        self.0.get(id).map_or(0, |object| object.first_word())
    }

    fn bits(id: usize) -> u64 {
        id as u64
    }

    fn id(bits: u64) -> usize {
        bits as usize
    }
}

pub struct Locked<V: Value = Object>(RwLock<SlotMap<DefaultKey, V>>);

impl<V: Value> Shared<V> for Locked<V> {
    type Id = DefaultKey;

    fn new() -> Locked<V> {
        Locked(RwLock::new(SlotMap::new()))
    }

    fn insert(&self, object: V) -> DefaultKey {
        self.0.write().insert(object)
    }

    fn free(&self, id: DefaultKey) -> bool {
        self.0.write().remove(id).is_some()
    }

    fn first_word(&self, id: DefaultKey) -> u64 {
        self.0.read().get(id).map_or(0, |object| object.first_word())
    }

    fn bits(id: DefaultKey) -> u64 {
        id.data().as_ffi()
    }

    fn id(bits: u64) -> DefaultKey {
        KeyData::from_ffi(bits).into()
    }
}

pub struct MutexLocked<V: Value = Object>(Mutex<SlotMap<DefaultKey, V>>);

impl<V: Value> Shared<V> for MutexLocked<V> {
    type Id = DefaultKey;

    fn new() -> MutexLocked<V> {
        MutexLocked(Mutex::new(SlotMap::new()))
    }

    fn insert(&self, object: V) -> DefaultKey {
        self.0.lock().insert(object)
    }

    fn free(&self, id: DefaultKey) -> bool {
        self.0.lock().remove(id).is_some()
    }

    fn first_word(&self, id: DefaultKey) -> u64 {
        self.0.lock().get(id).map_or(0, |object| object.first_word())
    }

    fn bits(id: DefaultKey) -> u64 {
        id.data().as_ffi()
    }

    fn id(bits: u64) -> DefaultKey {
        KeyData::from_ffi(bits).into()
    }
}
