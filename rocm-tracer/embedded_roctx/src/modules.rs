//! The shared objects loaded in this process, whoever loaded them and however: `RTLD_LOCAL` hides a
//! library's symbols from `dlsym(RTLD_DEFAULT)`, but not from this.

use std::ffi::{CStr, CString, c_int, c_void};

/// Every distinct address that `symbol` has in the shared objects loaded now, in load order.
///
/// An object in which it was found is never unloaded again, so the addresses stay valid.
pub fn find_symbol(symbol: &CStr) -> Vec<*mut c_void> {
    let mut found = Vec::new();
    for address in loaded().iter().filter_map(|path| symbol_in(path, symbol)) {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

/// The address of `symbol` in the loaded shared object of this name, or in what it depends on.
/// An object in which it was found is never unloaded again.
pub fn symbol_in(object: &CStr, symbol: &CStr) -> Option<*mut c_void> {
    let name = if object.is_empty() {
        std::ptr::null() // the program itself
    } else {
        object.as_ptr()
    };
    // SAFETY: the name is null or NUL-terminated. RTLD_NOLOAD runs no constructor.
    let handle = unsafe { libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: the handle was just opened, the symbol is NUL-terminated.
    let address = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
    if address.is_null() {
        // SAFETY: gives back the reference that dlopen took, and no more.
        unsafe { libc::dlclose(handle) };
        return None;
    }
    Some(address)
}

/// Opens a shared object, loading it if it is not loaded; the loader's own words if it cannot be.
/// `flags` are those of `dlopen`. Loading runs the object's constructors.
pub fn open(name: &CStr, flags: c_int) -> Result<*mut c_void, String> {
    // SAFETY: the name is NUL-terminated; the constructors are what the caller asks for.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: dlerror may be called at any time; its string is valid until this thread's next dl
    // call.
    let reason = unsafe {
        let reason = libc::dlerror();
        if reason.is_null() {
            name
        } else {
            CStr::from_ptr(reason)
        }
    };
    Err(reason.to_string_lossy().into_owned())
}

/// The names by which the loader knows what is loaded, in load order; the program's own is empty.
pub fn loaded() -> Vec<CString> {
    unsafe extern "C" fn collect(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        names: *mut c_void,
    ) -> c_int {
        // SAFETY: dl_iterate_phdr hands over the pointer given to it, which is the Vec below, and
        // an info whose name is null or NUL-terminated.
        unsafe {
            let names = &mut *names.cast::<Vec<CString>>();
            let name = (*info).dlpi_name;
            names.push(if name.is_null() {
                CString::default()
            } else {
                CStr::from_ptr(name).to_owned()
            });
        }
        0
    }
    let mut names: Vec<CString> = Vec::with_capacity(64);
    // SAFETY: the callback matches the signature asked for and does not outlive `names`.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast()) };
    names
}
