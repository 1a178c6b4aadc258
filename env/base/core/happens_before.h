// Tells ThreadSanitizer that what one thread did comes before what another does. Needed where
// a library that is not instrumented passes an object on, since the sanitizer misses that order.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace yard {

// Call happens_before() just before an object is passed on, and happens_after() in the thread that
// gets the object.
#if defined(__SANITIZE_THREAD__)
inline void happens_before(void* object) { __tsan_release(object); }
inline void happens_after(void* object) { __tsan_acquire(object); }
#else
inline void happens_before(void*) {}
inline void happens_after(void*) {}
#endif

}  // namespace yard
