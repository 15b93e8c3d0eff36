/// Waits for changes of files' attributes, such as times that ``futimens`` sets.
///
/// One file of the process for any number of watched files: systems limit both.
package final class FileWatch: Sendable {
    /// The result of a wait.
    package enum Outcome: Sendable {
        /// Nothing changed in the time.
        case nothing
        /// The files with these numbers changed.
        case files(Set<CInt>)
        /// Files changed, and the system does not say which.
        case anyFile
    }

    private let descriptor: CInt

    /// Opens a watch; nil where the system has none, or too many are open.
    package init?() {
        descriptor = croost_open_watch()
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Watches a file, from now on; returns nil if the system cannot.
    ///
    /// - Returns: A number, which names of one file can share.
    package func add(_ path: String) -> CInt? {
        let number = croost_watch_file(descriptor, path)
        return number < 0 ? nil : number
    }

    /// Ends the watch of a file.
    package func remove(_ number: CInt) { croost_unwatch_file(descriptor, number) }

    /// Waits until files change, or the time is over.
    ///
    /// - Returns: What changed since the last call; nil if the system cannot say that any more.
    package func wait(milliseconds: Int) -> Outcome? {
        withUnsafeTemporaryAllocation(of: CInt.self, capacity: 64) { numbers in
            // SAFETY: no more numbers are stored than the memory has room for, and none is read
            // that was not stored.
            let count = croost_wait_for_files(
                descriptor, CInt(clamping: milliseconds), numbers.baseAddress, CInt(numbers.count))
            if count < 0 { return nil }
            if count == 0 { return .nothing }
            return Int(count) > numbers.count ? .anyFile : .files(Set(numbers[..<Int(count)]))
        }
    }
}
