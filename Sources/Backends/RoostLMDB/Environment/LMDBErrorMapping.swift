internal import CLMDB
internal import RoostCore
internal import RoostFiles
internal import RoostSystem

struct LMDBError: Error, Hashable, CustomStringConvertible {
    let code: Int32
    let name: String

    var description: String { "\(name), LMDB error \(code)" }
}

extension StoreError {
    /// Returns the error for one of LMDB's return codes (lmdb.h, "Return Codes").
    ///
    /// Positive codes are `errno` values. `what` describes the failure, such as "cannot be opened".
    static func lmdb(_ code: Int32, what: String, path: String) -> StoreError {
        guard code < 0 else {
            // LMDB also returns EIO if a write ended early because the disk was full.
            let isFull = code == EIO && ((try? StoreFile.freeBytes(inDirectoryOf: path)) ?? .max) < 1 << 20
            return StoreFile.error(errno: isFull ? ENOSPC : code, what: what, path: path)
        }
        let (mapped, name, remedy) =
            lmdbCodes[code]
            ?? (.internalInconsistency, "unknown", "the library returned a code that it does not document")
        return StoreError(mapped, "'\(path)' \(what): \(remedy)", underlying: LMDBError(code: code, name: name))
    }

    /// Whether the error was thrown because all reader slots were in use.
    var isLackOfReaderSlots: Bool { (underlying as? LMDBError)?.code == MDB_READERS_FULL }

    private static let lmdbCodes: [Int32: (Code, name: String, remedy: String)] = [
        MDB_KEYEXIST: (.invalidRequest, "MDB_KEYEXIST", "a key exists already, or is not above the last one"),
        MDB_NOTFOUND: (.notAStore, "MDB_NOTFOUND", "a database that every Roost store has is missing"),
        MDB_PAGE_NOTFOUND: (.corrupted, "MDB_PAGE_NOTFOUND", "the file is damaged; restore it from a backup"),
        MDB_CORRUPTED: (.corrupted, "MDB_CORRUPTED", "the file is damaged; restore it from a backup"),
        MDB_PANIC: (.ioFailure, "MDB_PANIC", "an earlier write failed half-way; close the store and open it again"),
        MDB_VERSION_MISMATCH: (
            .unsupportedVersion, "MDB_VERSION_MISMATCH", "another version of LMDB wrote the file or has it open"
        ),
        MDB_INVALID: (.notAStore, "MDB_INVALID", "it is not an LMDB file; check the path"),
        MDB_MAP_FULL: (
            .limitExceeded, "MDB_MAP_FULL",
            "the map has reached its maximum size; open the store with a larger mapSize"
        ),
        MDB_DBS_FULL: (.internalInconsistency, "MDB_DBS_FULL", "too many databases; please report this"),
        MDB_READERS_FULL: (.busy, "MDB_READERS_FULL", "too many snapshots are open; close some or try again later"),
        MDB_TLS_FULL: (.outOfResources, "MDB_TLS_FULL", "the process has no thread-local storage left"),
        MDB_TXN_FULL: (.limitExceeded, "MDB_TXN_FULL", "one transaction changes too much; split it"),
        MDB_CURSOR_FULL: (.corrupted, "MDB_CURSOR_FULL", "a tree is deeper than possible; restore it from a backup"),
        MDB_PAGE_FULL: (.corrupted, "MDB_PAGE_FULL", "a page is fuller than possible; restore it from a backup"),
        MDB_MAP_RESIZED: (.busy, "MDB_MAP_RESIZED", "another process made it larger; try again"),
        MDB_INCOMPATIBLE: (.notAStore, "MDB_INCOMPATIBLE", "its databases are not those of a Roost store"),
        MDB_BAD_RSLOT: (.internalInconsistency, "MDB_BAD_RSLOT", "a reader slot was used twice; please report this"),
        MDB_BAD_TXN: (
            .internalInconsistency, "MDB_BAD_TXN", "the transaction failed before, or belongs to another file"
        ),
        MDB_BAD_VALSIZE: (.limitExceeded, "MDB_BAD_VALSIZE", "a key is empty or too long, or a value is too long"),
        MDB_BAD_DBI: (
            .internalInconsistency, "MDB_BAD_DBI", "a database handle changed unexpectedly; please report this"
        ),
    ]
}
