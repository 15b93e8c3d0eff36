internal import RoostFiles

/// The format of LMDB's lock file, `-lock`, which distinguishes it from files of other programs.
///
/// The file has a header of 128 bytes, and 64 bytes for each reader. Its content has no meaning
/// while no process has the store open.
enum LMDBLockFile {
    /// Returns whether the file can be LMDB's lock file, complete or not.
    ///
    /// LMDB initializes the two mutexes in the header first. So in an incomplete file, all other
    /// bytes may be zeros.
    static func isLockFile(_ file: CompanionFile) -> Bool {
        // An unreadable file is accepted, because LMDB then reports the error.
        guard let bytes = file.prefix(examinedByteCount) else { return true }
        guard file.byteCount.isMultiple(of: unitByteCount), bytes.count >= 2 * unitByteCount else {
            return bytes.allSatisfy { $0 == 0 }
        }
        return hasMagic(bytes)
            || (bytes.prefix(mutexOffset) + bytes.dropFirst(2 * unitByteCount)).allSatisfy { $0 == 0 }
    }

    static func beginsLikeLockFile(_ file: CompanionFile) -> Bool { file.prefix(4).map(hasMagic) ?? false }

    private static let examinedByteCount = 1 << 20
    /// The size of a reader's record, and the offset of the first mutex.
    private static let (unitByteCount, mutexOffset) = (64, 24)

    /// Returns whether the bytes begin with the magic number of lock files, in either byte order.
    private static func hasMagic(_ bytes: [UInt8]) -> Bool {
        let magic: [UInt8] = [0xBE, 0xEF, 0xC0, 0xDE]
        return bytes.starts(with: magic) || bytes.starts(with: magic.reversed())
    }
}
