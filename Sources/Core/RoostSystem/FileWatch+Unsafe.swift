/// A watch for changes of files' attributes, such as the times that `futimens` sets.
package final class FileWatch: Sendable {
    package enum Outcome: Sendable {
        case nothing
        /// The numbers of the changed files, as returned by ``FileWatch/add(_:)``.
        case files(Set<CInt>)
        /// Any of the files may have changed.
        case anyFile
    }

    private let descriptor: CInt

    /// Opens a watch; returns nil if the system does not support watches, or too many are open.
    package init?() {
        descriptor = croost_open_watch()
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Starts to watch a file, and returns its number; returns nil if the system cannot watch it.
    ///
    /// On Linux, all names of a file have the same number.
    package func add(_ path: String) -> CInt? {
        let number = croost_watch_file(descriptor, path)
        return number < 0 ? nil : number
    }

    package func remove(_ number: CInt) { croost_unwatch_file(descriptor, number) }

    /// Waits until files change, the timeout ends or a signal arrives.
    ///
    /// - Returns: The changes since the last call; nil if the system can no longer report changes.
    package func wait(milliseconds: Int) -> Outcome? {
        withUnsafeTemporaryAllocation(of: CInt.self, capacity: 64) { numbers in
            // SAFETY: the call stores at most `numbers.count` numbers, even if it returns a higher
            // count. Only stored numbers are read.
            let count = croost_wait_for_files(
                descriptor, CInt(clamping: milliseconds), numbers.baseAddress, CInt(numbers.count))
            if count < 0 { return nil }
            if count == 0 { return .nothing }
            return Int(count) > numbers.count ? .anyFile : .files(Set(numbers[..<Int(count)]))
        }
    }
}
