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
    static func lmdb(_ code: Int32, what: String, path: String) -> StoreError {
        guard code < 0 else {
            // LMDB says so when only a part of what it wrote found space.
            let isFull = code == EIO && ((try? StoreFile.freeBytes(inDirectoryOf: path)) ?? .max) < 1 << 20
            return StoreFile.error(errno: isFull ? ENOSPC : code, what: what, path: path)
        }
        func error(_ mapped: Code, name: String, remedy: String) -> StoreError {
            StoreError(mapped, "'\(path)' \(what): \(remedy)", underlying: LMDBError(code: code, name: name))
        }
        switch code {
        case MDB_KEYEXIST:
            return error(
                .invalidRequest, name: "MDB_KEYEXIST", remedy: "a key exists already, or is not above the last one")
        case MDB_NOTFOUND:
            return error(.notAStore, name: "MDB_NOTFOUND", remedy: "a database that every Roost store has is missing")
        case MDB_PAGE_NOTFOUND:
            return error(.corrupted, name: "MDB_PAGE_NOTFOUND", remedy: "the file is damaged; restore it from a backup")
        case MDB_CORRUPTED:
            return error(.corrupted, name: "MDB_CORRUPTED", remedy: "the file is damaged; restore it from a backup")
        case MDB_PANIC:
            return error(
                .ioFailure, name: "MDB_PANIC",
                remedy: "an earlier write failed half-way; close the store and open it again")
        case MDB_VERSION_MISMATCH:
            return error(
                .unsupportedVersion, name: "MDB_VERSION_MISMATCH",
                remedy: "another version of LMDB wrote the file or has it open")
        case MDB_INVALID:
            return error(.notAStore, name: "MDB_INVALID", remedy: "it is not an LMDB file; check the path")
        case MDB_MAP_FULL:
            return error(
                .limitExceeded, name: "MDB_MAP_FULL", remedy: "the largest map is full; open it with a larger mapSize")
        case MDB_DBS_FULL:
            return error(.internalInconsistency, name: "MDB_DBS_FULL", remedy: "too many databases; please report this")
        case MDB_READERS_FULL:
            return error(
                .busy, name: "MDB_READERS_FULL", remedy: "too many snapshots are open; close some or try again later")
        case MDB_TLS_FULL:
            return error(.outOfResources, name: "MDB_TLS_FULL", remedy: "the process has no thread-local storage left")
        case MDB_TXN_FULL:
            return error(.limitExceeded, name: "MDB_TXN_FULL", remedy: "one transaction changes too much; split it")
        case MDB_CURSOR_FULL:
            return error(
                .corrupted, name: "MDB_CURSOR_FULL",
                remedy: "a tree is deeper than any can be; restore it from a backup")
        case MDB_PAGE_FULL:
            return error(
                .corrupted, name: "MDB_PAGE_FULL", remedy: "a page is fuller than any can be; restore it from a backup")
        case MDB_MAP_RESIZED:
            return error(.busy, name: "MDB_MAP_RESIZED", remedy: "another process made it larger; try again")
        case MDB_INCOMPATIBLE:
            return error(.notAStore, name: "MDB_INCOMPATIBLE", remedy: "its databases are not those of a Roost store")
        case MDB_BAD_RSLOT:
            return error(
                .internalInconsistency, name: "MDB_BAD_RSLOT",
                remedy: "a reader slot was used twice; please report this")
        case MDB_BAD_TXN:
            return error(
                .internalInconsistency, name: "MDB_BAD_TXN",
                remedy: "the transaction failed before or does not belong to it")
        case MDB_BAD_VALSIZE:
            return error(
                .limitExceeded, name: "MDB_BAD_VALSIZE", remedy: "a key is empty or too long, or a value is too long")
        case MDB_BAD_DBI:
            return error(
                .internalInconsistency, name: "MDB_BAD_DBI",
                remedy: "a database handle changed unexpectedly; please report this")
        default:
            return error(
                .internalInconsistency, name: "unknown", remedy: "the library returned a code that it does not document"
            )
        }
    }
}
