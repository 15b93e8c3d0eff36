package import RoostCore
internal import RoostSystem

/// A lock on a range of bytes of a store's own file.
///
/// The lock needs no other file and no disk space. It conflicts with locks that libraries set on
/// the same bytes, and ends with the process. The bytes need not exist in the file.
package final class FileRangeLock: Sendable {
    private let file: OpenFile

    private init(_ file: consuming OpenFile) { self.file = file }

    deinit {
        // Unlock now, because `HeldFiles` may close the file later.
        _ = croost_set_range_lock(file.descriptor, 0, 0, croost_lock_none)
    }

    /// Locks the first free range of `ranges`, without waiting.
    ///
    /// A file that this user cannot write supports only shared locks. `path` must not be a symbolic
    /// link.
    ///
    /// - Returns: The lock, held; nil if every range is locked, or the system cannot lock ranges.
    /// - Throws: `notFound`, `notAStore`, `permissionDenied`, `readOnly`, `outOfResources`,
    ///   `ioFailure`.
    package static func acquire(
        oneOf ranges: some Sequence<Range<Int>>, mode: StoreLock.Mode, at path: String
    ) throws(StoreError) -> FileRangeLock? {
        let file = try open(path, flags: mode == .exclusive ? O_RDWR : O_RDONLY)
        let kind = mode == .exclusive ? croost_lock_exclusive : croost_lock_shared
        for range in ranges {
            let code = croost_set_range_lock(file.descriptor, Int64(range.lowerBound), Int64(range.count), kind)
            switch code {
            case 0: return FileRangeLock(file)
            case EWOULDBLOCK: continue
            case ENOTSUP: return nil
            default: throw StoreFile.error(errno: code, what: "cannot be locked", path: path)
            }
        }
        return nil
    }

    /// Returns the length of an exclusive lock on any bytes of `range`; nil if none is found.
    package static func exclusiveByteCount(_ range: Range<Int>, at path: String) -> Int? {
        guard let file = try? open(path, flags: O_RDONLY) else { return nil }
        var found: Int64 = 0
        let code = croost_find_lock(
            file.descriptor, Int64(range.lowerBound), Int64(range.count), croost_lock_shared, &found)
        return code == 0 && found > 0 ? Int(clamping: found) : nil
    }

    private static func open(_ path: String, flags: Int32) throws(StoreError) -> OpenFile {
        do throws(SystemError) {
            return try OpenFile.regular(path, flags: flags, isLockedElsewhere: true)
        } catch {
            throw StoreFile.error(errno: error.code, what: "cannot be opened", path: path)
        }
    }
}
