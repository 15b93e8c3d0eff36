internal import CLMDB
internal import RoostCore
internal import RoostFiles
internal import RoostSystem

/// An error of the LMDB library, by its code.
struct LMDBError: Error, Hashable, CustomStringConvertible {
    let code: Int32
    let name: String

    var description: String { "\(name), LMDB error \(code)" }
}

extension StoreError {
    /// The one mapping of LMDB's return codes (lmdb.h, "Return Codes") to ours.
    ///
    /// Positive ones are `errno` values.
    ///
    /// - Parameters:
    ///   - code: What the call returned; not `MDB_SUCCESS`.
    ///   - what: What failed, as in "cannot be opened".
    ///   - path: The store.
    /// - Returns: The error to throw.
    static func lmdb(_ code: Int32, _ what: String, path: String) -> StoreError {
        guard code < 0 else {
            // LMDB says so when only a part of what it wrote found space.
            let isFull = code == EIO && ((try? StoreFile.freeBytes(inDirectoryOf: path)) ?? .max) < 1 << 20
            return StoreFile.error(errno: isFull ? ENOSPC : code, what: what, path: path)
        }
        func error(_ mapped: Code, _ name: String, _ remedy: String) -> StoreError {
            StoreError(mapped, "'\(path)' \(what): \(remedy)", underlying: LMDBError(code: code, name: name))
        }
        switch code {
        case MDB_KEYEXIST:
            return error(.invalidRequest, "MDB_KEYEXIST", "a key exists already, or is not above the last one")
        case MDB_NOTFOUND: return error(.notAStore, "MDB_NOTFOUND", "a database that every Roost store has is missing")
        case MDB_PAGE_NOTFOUND:
            return error(.corrupted, "MDB_PAGE_NOTFOUND", "the file is damaged; restore it from a backup")
        case MDB_CORRUPTED: return error(.corrupted, "MDB_CORRUPTED", "the file is damaged; restore it from a backup")
        case MDB_PANIC:
            return error(.ioFailure, "MDB_PANIC", "an earlier write failed half-way; close the store and open it again")
        case MDB_VERSION_MISMATCH:
            return error(
                .unsupportedVersion, "MDB_VERSION_MISMATCH", "another version of LMDB wrote the file or has it open")
        case MDB_INVALID: return error(.notAStore, "MDB_INVALID", "it is not an LMDB file; check the path")
        case MDB_MAP_FULL:
            return error(.limitExceeded, "MDB_MAP_FULL", "the largest map is full; open it with a larger mapSize")
        case MDB_DBS_FULL:
            return error(.internalInconsistency, "MDB_DBS_FULL", "too many databases; please report this")
        case MDB_READERS_FULL:
            return error(.busy, "MDB_READERS_FULL", "too many snapshots are open; close some or try again later")
        case MDB_TLS_FULL: return error(.outOfResources, "MDB_TLS_FULL", "the process has no thread-local storage left")
        case MDB_TXN_FULL: return error(.limitExceeded, "MDB_TXN_FULL", "one transaction changes too much; split it")
        case MDB_CURSOR_FULL:
            return error(.corrupted, "MDB_CURSOR_FULL", "a tree is deeper than any can be; restore it from a backup")
        case MDB_PAGE_FULL:
            return error(.corrupted, "MDB_PAGE_FULL", "a page is fuller than any can be; restore it from a backup")
        case MDB_MAP_RESIZED: return error(.busy, "MDB_MAP_RESIZED", "another process made it larger; try again")
        case MDB_INCOMPATIBLE:
            return error(.notAStore, "MDB_INCOMPATIBLE", "its databases are not those of a Roost store")
        case MDB_BAD_RSLOT:
            return error(.internalInconsistency, "MDB_BAD_RSLOT", "a reader slot was used twice; please report this")
        case MDB_BAD_TXN:
            return error(
                .internalInconsistency, "MDB_BAD_TXN", "the transaction failed before or does not belong to it")
        case MDB_BAD_VALSIZE:
            return error(.limitExceeded, "MDB_BAD_VALSIZE", "a key is empty or too long, or a value is too long")
        case MDB_BAD_DBI:
            return error(
                .internalInconsistency, "MDB_BAD_DBI", "a database handle changed unexpectedly; please report this")
        default:
            return error(.internalInconsistency, "unknown", "the library returned a code that it does not document")
        }
    }
}
