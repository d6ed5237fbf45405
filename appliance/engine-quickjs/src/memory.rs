//! What the memory of one runtime is counted and bounded by.
//!
//! QuickJS takes memory in arenas and in single large blocks through an allocator; ours counts them,
//! keeps the peak, refuses what goes over the limit and remembers that it did. QuickJS's own limit
//! would do the refusing, but tells neither the peak nor that a limit was reached: a script sees an
//! `InternalError`, or `null` when there is no room for an error, and may catch both.
//!
//! **Invariants**
//! - [`Memory::is_exhausted`] stays true until the next [`Memory::begin`], whatever the script caught.
//! - Pointers come from and go back to `RustAllocator` unchanged.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

/// Counters of one runtime, shared with its allocator.
#[derive(Debug)]
pub(crate) struct Memory {
    used_bytes: Cell<usize>,
    peak_bytes: Cell<usize>,
    bytes_max: Cell<usize>,
    is_exhausted: Cell<bool>,
}

impl Memory {
    pub(crate) fn new(bytes_max: u64) -> Rc<Self> {
        Rc::new(Self {
            used_bytes: Cell::new(0),
            peak_bytes: Cell::new(0),
            bytes_max: Cell::new(usize::try_from(bytes_max).unwrap_or(usize::MAX)),
            is_exhausted: Cell::new(false),
        })
    }

    /// From now on so many bytes may be held.
    pub(crate) fn limit(&self, bytes_max: u64) {
        self.bytes_max.set(usize::try_from(bytes_max).unwrap_or(usize::MAX));
    }

    /// A call begins: the peak is counted anew.
    pub(crate) fn begin(&self) {
        self.peak_bytes.set(self.used_bytes.get());
        self.is_exhausted.set(false);
    }

    /// Whether memory was refused since [`Self::begin`].
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted.get()
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.used_bytes.get() as u64
    }

    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes.get() as u64
    }

    /// Whether so much more may be taken; remembers a refusal.
    fn grant(&self, more_bytes: usize) -> bool {
        let is_granted = self
            .used_bytes
            .get()
            .checked_add(more_bytes)
            .is_some_and(|sum_bytes| sum_bytes <= self.bytes_max.get());
        if !is_granted {
            self.is_exhausted.set(true);
        }
        is_granted
    }

    fn add(&self, bytes: usize) {
        let used_bytes = self.used_bytes.get().saturating_add(bytes);
        self.used_bytes.set(used_bytes);
        self.peak_bytes.set(self.peak_bytes.get().max(used_bytes));
    }

    fn sub(&self, bytes: usize) {
        self.used_bytes.set(self.used_bytes.get().saturating_sub(bytes));
    }
}

/// The allocator of one runtime.
pub(crate) struct Counted {
    inner: RustAllocator,
    memory: Rc<Memory>,
}

impl Counted {
    pub(crate) fn new(memory: Rc<Memory>) -> Self {
        Self { inner: RustAllocator, memory }
    }

    fn counted(&self, pointer: *mut u8) -> *mut u8 {
        if !pointer.is_null() {
            #[expect(unsafe_code, reason = "the size of a block is asked of the allocator")]
            // SAFETY: the caller has just taken `pointer` from `RustAllocator`, and it is not null.
            let bytes = unsafe { RustAllocator::usable_size(pointer) };
            self.memory.add(bytes);
        }
        pointer
    }
}

#[expect(unsafe_code, reason = "counting takes an allocator, and that trait is unsafe")]
// SAFETY: every pointer is made, resized, measured and freed by `RustAllocator`, which keeps the
// trait's promises; a refusal answers null, which the trait allows everywhere.
unsafe impl Allocator for Counted {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.memory.grant(size) {
            return std::ptr::null_mut();
        }
        let pointer = self.inner.alloc(size);
        self.counted(pointer)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        // `RustAllocator` panics on an overflow.
        if !count.checked_mul(size).is_some_and(|bytes| self.memory.grant(bytes)) {
            return std::ptr::null_mut();
        }
        let pointer = self.inner.calloc(count, size);
        self.counted(pointer)
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        // SAFETY: the caller promises that `ptr` came from this allocator, so from `RustAllocator`.
        let bytes = unsafe { RustAllocator::usable_size(ptr) };
        self.memory.sub(bytes);
        // SAFETY: as above; the size was read before the block goes.
        unsafe { self.inner.dealloc(ptr) };
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        if ptr.is_null() {
            return self.alloc(new_size);
        }
        if new_size == 0 {
            // SAFETY: the caller promises that `ptr` came from this allocator.
            unsafe { self.dealloc(ptr) };
            return std::ptr::null_mut();
        }
        // SAFETY: `ptr` came from `RustAllocator`, by the caller's promise, and is not null.
        let old_bytes = unsafe { RustAllocator::usable_size(ptr) };
        if !self.memory.grant(new_size.saturating_sub(old_bytes)) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above; on null the old block is still there, and still counted.
        let pointer = unsafe { self.inner.realloc(ptr, new_size) };
        if !pointer.is_null() {
            self.memory.sub(old_bytes);
        }
        self.counted(pointer)
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: the caller promises that `ptr` came from this allocator, so from `RustAllocator`.
        unsafe { RustAllocator::usable_size(ptr) }
    }
}
