/// System calls for types that have methods with the same names.
///
/// In such types, a direct call would need the module name of the C library.
package enum SystemCalls {
    /// Calls read(2); returns the number of bytes read, 0 at the end, or -1 with `errno`.
    package static func read(_ descriptor: CInt, into bytes: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.read(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.read(descriptor, bytes.baseAddress, bytes.count)
        #else
            Darwin.read(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    /// Calls write(2); returns the number of bytes written, or -1 with `errno`.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    /// Kills a process with SIGKILL; returns 0, or -1 with `errno`.
    package static func kill(_ process: pid_t) -> CInt {
        #if canImport(Glibc)
            Glibc.kill(process, SIGKILL)
        #elseif canImport(Musl)
            Musl.kill(process, SIGKILL)
        #else
            Darwin.kill(process, SIGKILL)
        #endif
    }
}
