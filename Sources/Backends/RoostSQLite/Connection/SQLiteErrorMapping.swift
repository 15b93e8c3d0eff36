internal import CSQLite
package import RoostCore

/// SQLite's own error with its extended result code, see <https://www.sqlite.org/rescode.html>.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32
    /// The system's error that caused this error, or 0 if it is unknown.
    package let systemCode: Int32

    package init(code: Int32, systemCode: Int32 = 0) {
        self.code = code
        self.systemCode = systemCode
    }

    /// SQLite's text and both codes, without values of the database.
    package var description: String {
        let text = sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown"
        return "SQLite \(code)\(systemCode == 0 ? "" : ", system \(systemCode)"): \(text)"
    }

    var basicCode: Int32 { code & 0xFF }

    package var storeCode: StoreError.Code {
        switch code {
        case SQLite.ioNoMemory: return .outOfResources
        case SQLite.ioDiskCorrupt, SQLite.ioBadData, SQLite.cannotOpenDirtyWAL: return .corrupted
        case SQLite.ioNoRoomForIndex: return .noSpace
        case SQLite.fileMoved: return .storeReplaced
        case SQLite.cannotOpenDirectory: return .notAStore
        case SQLite.cannotOpenLink: return .permissionDenied
        case SQLite.duplicatePrimaryKey, SQLite.duplicateRowID: return .duplicateObject
        case SQLite.notUnique: return .constraintViolation
        default: break
        }
        switch basicCode {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_SCHEMA: return .busy
        case SQLITE_NOMEM: return .outOfResources
        case SQLITE_READONLY: return .readOnly
        case SQLITE_INTERRUPT: return .cancelled
        case SQLITE_IOERR:
            switch systemCode {
            case SQLite.noSpace, SQLite.fileTooLarge, SQLite.quotaExceeded: return .noSpace
            default: return .ioFailure
            }
        case SQLITE_CORRUPT: return .corrupted
        case SQLITE_NOTADB: return .notAStore
        case SQLITE_FULL: return .noSpace
        case SQLITE_CANTOPEN:
            switch systemCode {
            case SQLite.tooManyFiles, SQLite.tooManyFilesInSystem: return .outOfResources
            case SQLite.noSuchFile: return .notFound
            case SQLite.noSpace, SQLite.quotaExceeded: return .noSpace
            case SQLite.readOnlyFileSystem: return .readOnly
            default: return .permissionDenied
            }
        case SQLITE_PERM, SQLITE_AUTH: return .permissionDenied
        case SQLITE_TOOBIG, SQLITE_NOLFS: return .limitExceeded
        default: return .internalInconsistency
        }
    }
}

extension StoreError {
    static func sqlite(_ error: SQLiteError, what: String, path: String) -> StoreError {
        let code = error.storeCode
        let remedy: String
        switch code {
        case .busy: remedy = "another connection holds a lock; try again later"
        case .outOfResources: remedy = "memory or file handles are used up"
        case .readOnly: remedy = "the file or its directory cannot be written"
        case .ioFailure: remedy = "the system reported an error; check the medium"
        case .corrupted: remedy = "the file is damaged; run a check and restore it from a backup"
        case .notAStore: remedy = "it is not an SQLite database; check the path"
        case .noSpace: remedy = "the disk is full, or a quota or a limit of file size is reached; nothing was written"
        case .permissionDenied:
            remedy = "the file, or a file beside it, may not be opened; check the permissions of its directory"
        case .limitExceeded: remedy = "a value or a row is larger than the option maximumValueBytes allows"
        case .storeReplaced: remedy = "the file was replaced by another one; close the store and open the new file"
        case .duplicateObject: remedy = "an object with the same key exists already"
        case .constraintViolation: remedy = "values that must be unique are used twice"
        default: remedy = "please report this"
        }
        return StoreError(code, "\(what) '\(path)' failed: \(remedy).", underlying: error)
    }
}

/// Extended result codes, which Swift does not import because C defines them as expressions.
enum SQLite {
    static let ioNoMemory = SQLITE_IOERR | 12 << 8
    /// The index of the write-ahead log cannot grow; reading can also cause this error.
    static let ioNoRoomForIndex = SQLITE_IOERR | 19 << 8
    static let ioBadData = SQLITE_IOERR | 32 << 8
    static let ioDiskCorrupt = SQLITE_IOERR | 33 << 8
    static let fileMoved = SQLITE_READONLY | 4 << 8
    static let cannotOpenDirectory = SQLITE_CANTOPEN | 2 << 8
    static let cannotOpenDirtyWAL = SQLITE_CANTOPEN | 5 << 8
    static let cannotOpenLink = SQLITE_CANTOPEN | 6 << 8
    static let duplicatePrimaryKey = SQLITE_CONSTRAINT | 6 << 8
    static let notUnique = SQLITE_CONSTRAINT | 8 << 8
    static let duplicateRowID = SQLITE_CONSTRAINT | 10 << 8

    // Values of errno. Only `quotaExceeded` differs between Linux and Darwin.
    static let fileTooLarge: Int32 = 27
    static let noSpace: Int32 = 28
    #if canImport(Darwin)
        static let quotaExceeded: Int32 = 69
    #else
        static let quotaExceeded: Int32 = 122
    #endif
    static let noSuchFile: Int32 = 2
    static let tooManyFilesInSystem: Int32 = 23
    static let tooManyFiles: Int32 = 24
    static let readOnlyFileSystem: Int32 = 30
}
