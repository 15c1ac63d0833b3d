//! haft from Rust: handle tables for threads.  An object of a Table is read in a section, whose references
//! cannot leave it; one of a Counted is held, by any thread, until the guard is dropped; what is opened closes when it is dropped; a status that is not HAFT_OK is an `Err`.
//!
//! `sys` has all functions, structs and constants of the C headers, with their contracts.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::os::raw::{c_char, c_void};
use std::{error, fmt, hash, panic, process, ptr};

#[allow(non_camel_case_types, clippy::all)]
pub mod sys {
    include!(concat!(env!("OUT_DIR"), "/haft.rs"));
}

/// A status that is not HAFT_OK; prints its text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Status(pub sys::haft_status);

pub type Result<T> = std::result::Result<T, Status>;

fn text_of(text: *const c_char) -> &'static str {
    // SAFETY: the library's texts are constants.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

impl Status {
    pub fn name(self) -> &'static str {
        text_of(unsafe { sys::haft_status_name(self.0) })
    }

    pub fn text(self) -> &'static str {
        text_of(unsafe { sys::haft_status_text(self.0) })
    }

    fn check(status: sys::haft_status) -> Result<()> {
        match status {
            sys::HAFT_OK => Ok(()),
            other => Err(Status(other)),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.name(), self.text())
    }
}

impl error::Error for Status {}

/// What could not be closed, as it was, and why.
pub struct Refused<T> {
    pub opened: T,
    pub status: Status,
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.status, out)
    }
}

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.status, out)
    }
}

impl<T> error::Error for Refused<T> {}

impl<T> From<Refused<T>> for Status {
    fn from(refused: Refused<T>) -> Self {
        refused.status
    }
}

/// Forgets `opened` if the status is HAFT_OK, else hands it back.
fn closed<T>(opened: T, status: sys::haft_status) -> std::result::Result<(), Refused<T>> {
    match Status::check(status) {
        Ok(()) => {
            mem::forget(opened);
            Ok(())
        }
        Err(status) => Err(Refused { opened, status }),
    }
}

/// Opens something: what the call puts into its last parameter.
fn opened<T>(open: impl FnOnce(*mut *mut T) -> sys::haft_status) -> Result<*mut T> {
    let mut made = ptr::null_mut();
    Status::check(open(&mut made))?;
    Ok(made)
}

// --- what the thread has open ---

/// An open worker of the calling thread.
#[derive(Clone, Copy)]
struct Opened {
    worker: *mut sys::haft_worker,
    domain: *mut sys::haft_domain,
    is_due: bool, // its quiescent point is put off until the thread has no section open
}

/// In all domains: the C library leaves it to its callers that a thread which waits in one is in no section of
/// another, and offline there.  Else two threads that wait crosswise wait for each other for ever.
#[derive(Default)]
struct Thread {
    sections: usize,
    workers: Vec<Opened>,
}

impl Thread {
    /// With what the calling thread has open.
    fn with<R>(call: impl FnOnce(&mut Thread) -> R) -> R {
        // Not dropped, for a worker may be dropped after it.  Without workers it has no memory.
        thread_local!(static THREAD: ManuallyDrop<RefCell<Thread>> = Default::default());
        THREAD.with(|thread| call(&mut thread.borrow_mut()))
    }

    fn remove(&mut self, worker: *mut sys::haft_worker) {
        self.workers.retain(|opened| opened.worker != worker);
        if self.workers.is_empty() {
            self.workers = Vec::new();
        }
    }

    /// In a section: the worker's quiescent point is due at its end, and the answer is true.
    fn put_off(&mut self, worker: *mut sys::haft_worker) -> bool {
        let in_section = self.sections != 0;
        for opened in self.workers.iter_mut().filter(|opened| opened.worker == worker) {
            opened.is_due = in_section;
        }
        in_section
    }

    fn take_due(&mut self) -> Option<Opened> {
        let in_section = self.sections != 0;
        let due = self.workers.iter_mut().find(|opened| opened.is_due && !in_section)?;
        due.is_due = false;
        Some(*due)
    }

    /// Parks in each domain where the thread has workers but this one; None in a section.
    fn park_elsewhere(&self, domain: *mut sys::haft_domain) -> Option<Vec<Park>> {
        let mut others: Vec<_> = self.workers.iter().map(|opened| opened.domain).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|&other| other != domain);
        (self.sections == 0).then(|| others.into_iter().map(Park::new).collect())
    }
}

/// Ends what haft_thread_park began.
struct Park {
    domain: *mut sys::haft_domain,
    state: sys::haft_job_state,
}

impl Park {
    fn new(domain: *mut sys::haft_domain) -> Self {
        Park { domain, state: unsafe { sys::haft_thread_park(domain) } }
    }
}

impl Drop for Park {
    fn drop(&mut self) {
        unsafe { sys::haft_thread_unpark(self.domain, self.state) }
    }
}

/// Calls what may wait for the domain's threads.
fn waiting(domain: *mut sys::haft_domain, call: impl FnOnce() -> sys::haft_status) -> sys::haft_status {
    match Thread::with(|thread| thread.park_elsewhere(domain)) {
        Some(_parks) => call(),
        None => sys::HAFT_IN_SECTION,
    }
}

fn quiescent(worker: *mut sys::haft_worker, domain: *mut sys::haft_domain) -> Result<()> {
    Status::check(waiting(domain, || unsafe { sys::haft_worker_quiescent(worker) }))
}

// --- ids ---

/// The id of an object of type T.  Forged and stale ids find no object, and do no harm.
pub struct Id<T> {
    bits: u64,
    of: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    pub fn from_bits(bits: u64) -> Self {
        Id { bits, of: PhantomData }
    }

    pub fn bits(self) -> u64 {
        self.bits
    }

    fn raw(self) -> sys::haft_id {
        sys::haft_id { bits: self.bits }
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<T> Eq for Id<T> {}

impl<T> hash::Hash for Id<T> {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.bits.hash(state)
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Id({:#x})", self.bits)
    }
}

// --- domains ---

/// A clock that lets freed slots of its tables go: that of the workers.
pub struct Domain {
    domain: *mut sys::haft_domain,
}

// SAFETY: all calls on a domain that are made here may be made by any thread.
unsafe impl Send for Domain {}
unsafe impl Sync for Domain {}

impl Domain {
    pub fn open() -> Result<Self> {
        let domain = opened(|out| unsafe { sys::haft_domain_open(ptr::null(), out) })?;
        Ok(Domain { domain })
    }

    /// A table with room for `capacity` objects, of other defaults.
    pub fn table<T: Send + Sync + 'static>(&self, name: &str, capacity: u64) -> Result<Table<'_, T>> {
        // SAFETY: all members are 0, which is the default of each.
        let mut options: sys::haft_table_options = unsafe { mem::zeroed() };
        options.capacity = capacity;
        unsafe { self.table_with(name, options) }
    }

    /// A table with other options; object_size, object_alignment and name are set here.
    ///
    /// # Safety
    /// What the options point to lives as long as the table, and callbacks keep their contracts.
    pub unsafe fn table_with<T: Send + Sync + 'static>(
        &self,
        name: &str,
        mut options: sys::haft_table_options,
    ) -> Result<Table<'_, T>> {
        // A slot's object is forgotten, not dropped.
        struct Check<T>(PhantomData<T>);
        impl<T> Check<T> {
            const NOTHING_TO_DROP: () = assert!(!mem::needs_drop::<T>(), "objects of this type must be dropped");
        }
        #[allow(clippy::let_unit_value)]
        let _ = Check::<T>::NOTHING_TO_DROP;

        let name = CString::new(name).unwrap_or_default(); // the table keeps a copy
        options.name = name.as_ptr();
        options.object_size = mem::size_of::<T>();
        options.object_alignment = mem::align_of::<T>();
        let size = mem::size_of_val(&options);
        let table = opened(|out| sys::haft_table_open_sized(self.domain, &options, size, out))?;
        Ok(Table { domain: self, table, view: sys::haft_table_view(table), of: PhantomData })
    }
}

impl Domain {
    /// As dropping it does, but hands it back if it cannot be closed now.
    pub fn close(self) -> std::result::Result<(), Refused<Self>> {
        let status = unsafe { sys::haft_domain_close(self.domain) };
        closed(self, status)
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // Refused only where a table was forgotten: then both stay.
        unsafe { sys::haft_domain_close(self.domain) };
    }
}

// --- tables ---

/// Objects of type T, by id.  Any thread frees; a worker inserts.
pub struct Table<'d, T> {
    domain: &'d Domain,
    table: *mut sys::haft_table,
    view: sys::haft_view,
    of: PhantomData<T>,
}

// SAFETY: T is both; all calls on a table that are made here may be made by any thread.
unsafe impl<T: Send + Sync> Send for Table<'_, T> {}
unsafe impl<T: Send + Sync> Sync for Table<'_, T> {}

impl<'d, T: Send + Sync + 'static> Table<'d, T> {
    /// The calling thread's way to read the table, and the fastest to insert and free.
    pub fn worker(&self) -> Result<Worker<'_, T>> {
        let worker = opened(|out| unsafe { sys::haft_worker_open(self.table, out) })?;
        let domain = self.domain.domain;
        Thread::with(|thread| thread.workers.push(Opened { worker, domain, is_due: false }));
        Ok(Worker { table: self, worker })
    }

    /// haft_table_free: without a worker
    pub fn free(&self, id: Id<T>) -> Result<()> {
        Status::check(unsafe { sys::haft_table_free(self.table, id.raw()) })
    }

    /// haft_table_clear: all objects end, and none is inserted any more.
    pub fn clear(&self) -> Result<()> {
        Status::check(unsafe { sys::haft_table_clear(self.table) })
    }

    /// A snapshot.
    pub fn is_live(&self, id: Id<T>) -> bool {
        unsafe { sys::haft_is_live(self.view, id.raw()) }
    }

    /// Why an id finds no object; Ok if it finds one.
    pub fn diagnose(&self, id: Id<T>) -> Result<()> {
        Status::check(unsafe { sys::haft_diagnose(self.table, id.raw()) })
    }

    pub fn stats(&self) -> sys::haft_table_stats {
        unsafe { sys::haft_table_stats_get(self.table) }
    }

    /// An id as text for people: 17v3 is index 17, generation 3.
    pub fn text(&self, id: Id<T>) -> String {
        let mut text: [c_char; sys::HAFT_ID_TEXT_SIZE as usize] = [0; sys::HAFT_ID_TEXT_SIZE as usize];
        unsafe {
            let layout = sys::haft_table_info(self.table).layout;
            sys::haft_id_format(layout, id.raw(), text.as_mut_ptr(), text.len());
            CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
        }
    }

    /// As dropping it does, but hands it back if it cannot be closed now: the calling thread is in a section.
    pub fn close(self) -> std::result::Result<(), Refused<Self>> {
        let status = self.try_to_close();
        closed(self, status)
    }
}

impl<T> Table<'_, T> {
    fn try_to_close(&self) -> sys::haft_status {
        waiting(self.domain.domain, || unsafe { sys::haft_table_close(self.table) })
    }
}

impl<T> Drop for Table<'_, T> {
    fn drop(&mut self) {
        // Refused only where a worker was forgotten, or in a section of any domain: then the table stays.
        self.try_to_close();
    }
}

fn insert<T>(
    object: &T,
    call: impl FnOnce(*const std::os::raw::c_void, *mut sys::haft_id) -> sys::haft_status,
) -> Result<Id<T>> {
    let mut id = sys::haft_id { bits: 0 };
    Status::check(call(object as *const T as *const _, &mut id))?;
    Ok(Id::from_bits(id.bits))
}

// --- workers and sections ---

/// A thread's worker: it stays with its thread.
///
/// While it is open, other threads' freed slots wait for this thread's quiescent points.  The end of the
/// thread's outermost section is one; a thread that has none for long calls quiescent(), and drops its worker
/// before it blocks.  "In a section" below means one of any domain.
pub struct Worker<'t, T> {
    table: &'t Table<'t, T>,
    worker: *mut sys::haft_worker, // neither Send nor Sync
}

/// Ends what haft_job_begin began, also when a panic passes.
struct Job<'t> {
    domain: &'t Domain,
    state: sys::haft_job_state,
}

impl<'t> Job<'t> {
    fn new(domain: &'t Domain) -> Self {
        let state = unsafe { sys::haft_job_begin(domain.domain) };
        Thread::with(|thread| thread.sections += 1);
        Job { domain, state }
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        Thread::with(|thread| thread.sections -= 1);
        unsafe { sys::haft_job_end(self.domain.domain, self.state) }
    }
}

impl<'t, T: Send + Sync + 'static> Worker<'t, T> {
    /// HAFT_BUSY where slots wait for a grace period.
    pub fn insert(&self, object: T) -> Result<Id<T>> {
        insert(&object, |from, id| unsafe { sys::haft_insert(self.worker, from, id) })
    }

    /// Waits for a grace period where that helps; HAFT_IN_SECTION where it would in a section.
    pub fn insert_wait(&self, object: T) -> Result<Id<T>> {
        let domain = self.table.domain.domain;
        insert(&object, |from, id| match unsafe { sys::haft_insert(self.worker, from, id) } {
            sys::HAFT_BUSY => waiting(domain, || unsafe { sys::haft_insert_wait(self.worker, from, id) }),
            status => status,
        })
    }

    /// HAFT_STALE if that was done before.  Sections that found the object still read it.
    pub fn free(&self, id: Id<T>) -> Result<()> {
        Status::check(unsafe { sys::haft_free(self.worker, id.raw()) })
    }

    /// No reference is held now: in a section it is put off until the outermost one ends.
    pub fn quiescent(&self) -> Result<()> {
        if Thread::with(|thread| thread.put_off(self.worker)) {
            return Ok(());
        }
        quiescent(self.worker, self.table.domain.domain)
    }

    /// Reads objects: what `read` finds stays what it is until it returns, even if it is freed.
    ///
    /// The worker's thread is online without a job, so a section is an inner job: no quiescent point of
    /// the thread, of whichever worker, ends it.  That sections nest, and end in order, is what the
    /// closure is for.
    pub fn section<R>(&self, read: impl FnOnce(&Section<'_, T>) -> R) -> R {
        let job = Job::new(self.table.domain);
        let _ = self.quiescent(); // put off
        let answer = read(&Section { table: self.table, of_thread: PhantomData });
        drop(job);
        while let Some(due) = Thread::with(Thread::take_due) {
            let _ = quiescent(due.worker, due.domain);
        }
        answer
    }
}

impl<T> Drop for Worker<'_, T> {
    fn drop(&mut self) {
        Thread::with(|thread| thread.remove(self.worker));
        unsafe { sys::haft_worker_close(self.worker) };
    }
}

/// What is read in a section: references live as long as it does.
pub struct Section<'s, T> {
    table: &'s Table<'s, T>,
    of_thread: PhantomData<*const ()>, // neither Send nor Sync
}

impl<T> Section<'_, T> {
    /// The object, or None for an id that names none.
    pub fn resolve(&self, id: Id<T>) -> Option<&T> {
        // SAFETY: the table holds objects of type T, which nothing writes to once they are published,
        // and no slot is used again before the section ends.
        unsafe { (sys::haft_resolve(self.table.view, id.raw()) as *const T).as_ref() }
    }
}

// --- counted tables ---

/// Objects of type T that any thread holds by id, without a domain or a worker.  An object is dropped once it is
/// freed and nothing holds it: in the call that frees it, or where its last guard is dropped.
pub struct Counted<T> {
    table: *mut sys::haft_counted,
    copies: bool,
    of: PhantomData<T>,
}

// SAFETY: T is both; all calls on a counted table that are made here may be made by any thread.
unsafe impl<T: Send + Sync> Send for Counted<T> {}
unsafe impl<T: Send + Sync> Sync for Counted<T> {}

/// on_destroy: a panic would pass through the C library.
unsafe extern "C" fn drop_object<T>(object: *mut c_void, _id: sys::haft_id, _arg: *mut c_void) {
    if panic::catch_unwind(|| ptr::drop_in_place(object as *mut T)).is_err() {
        process::abort();
    }
}

impl<T: Send + Sync + 'static> Counted<T> {
    /// A table with room for `capacity` objects, of other defaults.
    pub fn open(name: &str, capacity: u64) -> Result<Self> {
        // SAFETY: all members are 0, which is the default of each.
        let mut options: sys::haft_counted_options = unsafe { mem::zeroed() };
        options.capacity = capacity;
        unsafe { Self::open_with(name, options) }
    }

    /// A table with other options; object_size, object_alignment, name and on_destroy are set here.
    ///
    /// # Safety
    /// What the options point to lives as long as the table, and callbacks keep their contracts.
    pub unsafe fn open_with(name: &str, mut options: sys::haft_counted_options) -> Result<Self> {
        let name = CString::new(name).unwrap_or_default(); // the table keeps a copy
        options.name = name.as_ptr();
        options.object_size = mem::size_of::<T>();
        options.object_alignment = mem::align_of::<T>();
        options.on_destroy = if mem::needs_drop::<T>() { Some(drop_object::<T>) } else { None };
        let size = mem::size_of_val(&options);
        let table = opened(|out| sys::haft_counted_open_sized(&options, size, out))?;
        Ok(Counted { table, copies: options.copies, of: PhantomData })
    }

    /// The object is dropped if there is no room for it.
    pub fn insert(&self, object: T) -> Result<Id<T>> {
        let id = insert(&object, |from, id| unsafe { sys::haft_counted_insert(self.table, from, id) })?;
        mem::forget(object); // it is in its slot
        Ok(id)
    }

    /// The object, held until the guard is dropped; None for an id that names none.
    pub fn acquire(&self, id: Id<T>) -> Option<Held<'_, T>> {
        let object = unsafe { sys::haft_counted_acquire(self.table, id.raw()) } as *const T;
        (!object.is_null()).then(|| Held { counted: self, id, object })
    }

    /// A copy of the object, which nothing holds; only in a table with the option `copies`.
    pub fn copy(&self, id: Id<T>) -> Option<T>
    where
        T: Copy,
    {
        assert!(self.copies, "a table that copies are made of is opened with `copies`");
        let mut object = MaybeUninit::<T>::uninit();
        // SAFETY: if the answer is true, all bytes are those of one object.
        unsafe { sys::haft_counted_copy(self.table, id.raw(), object.as_mut_ptr() as *mut _).then(|| object.assume_init()) }
    }

    /// HAFT_STALE if that was done before.  Guards still have the object.
    pub fn free(&self, id: Id<T>) -> Result<()> {
        Status::check(unsafe { sys::haft_counted_free(self.table, id.raw()) })
    }

    /// The object itself, out of the table; HAFT_IN_USE while it is held.
    pub fn take(&self, id: Id<T>) -> Result<T> {
        let mut object = MaybeUninit::<T>::uninit();
        // SAFETY: if the status is HAFT_OK, the object is here and its slot forgets it.
        unsafe {
            Status::check(sys::haft_counted_take(self.table, id.raw(), object.as_mut_ptr() as *mut _))?;
            Ok(object.assume_init())
        }
    }

    /// A snapshot.
    pub fn is_live(&self, id: Id<T>) -> bool {
        unsafe { sys::haft_counted_is_live(self.table, id.raw()) }
    }

    /// Why an id finds no object; Ok if it finds one.
    pub fn diagnose(&self, id: Id<T>) -> Result<()> {
        Status::check(unsafe { sys::haft_counted_diagnose(self.table, id.raw()) })
    }

    pub fn stats(&self) -> sys::haft_counted_stats {
        unsafe { sys::haft_counted_stats_get(self.table) }
    }

    /// As dropping it does, but hands it back if it cannot be closed now: a guard was forgotten, or this is a drop
    /// of one of its objects.  Its live objects have been dropped then.
    pub fn close(self) -> std::result::Result<(), Refused<Self>> {
        let status = unsafe { sys::haft_counted_close(self.table) };
        closed(self, status)
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        // Refused as close() is: then the table stays.
        unsafe { sys::haft_counted_close(self.table) };
    }
}

/// An object that is held: it stays until the guard is dropped, by whichever thread, even if it is freed.
pub struct Held<'c, T> {
    counted: &'c Counted<T>,
    id: Id<T>,
    object: *const T,
}

// SAFETY: a reference to T may be sent, and any thread may end a hold.
unsafe impl<T: Send + Sync> Send for Held<'_, T> {}
unsafe impl<T: Send + Sync> Sync for Held<'_, T> {}

impl<T> Held<'_, T> {
    pub fn id(&self) -> Id<T> {
        self.id
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the object is of type T, and stays while it is held.
        unsafe { &*self.object }
    }
}

impl<T> Clone for Held<'_, T> {
    /// One more hold, also of an object that was freed.
    fn clone(&self) -> Self {
        let has_room = unsafe { sys::haft_counted_again(self.counted.table, self.id.raw()) };
        assert!(has_room, "an object has at most 2^30 - 1 holders");
        Held { counted: self.counted, id: self.id, object: self.object }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        unsafe { sys::haft_counted_release(self.counted.table, self.id.raw()) };
    }
}
