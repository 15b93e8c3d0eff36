internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    internal import RoostFiles

    /// The files of an SQLite database, and the mode for reading them.
    struct SQLiteFile {
        let path: String
        let mode: ForeignDatabase.Mode
        /// The path after resolving a symbolic link.
        ///
        /// SQLite looks for a log next to this file.
        private let target: String
        private let main: FileIdentity
        private let log: FileIdentity?
        /// A remark about rows that the import may miss, or nil.
        let remark: String?

        /// Refuses a file that is not a foreign SQLite database.
        ///
        /// - Throws: `notFound`, `notAStore`, `corrupted`, `permissionDenied`, `ioFailure`;
        ///   `invalidRequest` for a store of Roost.
        init(path: String) throws(StoreError) {
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw StoreError(.notFound, "The file '\(path)' does not exist. Check the path.")
            }
            try StoreFile.requireRegularFile(at: path, forWriting: false)
            guard !HeldFiles.shared.contains(path) else { throw Self.roostStore(path) }
            self.path = path
            target = StoreFile.resolvingLink(path)
            main = try FileIdentity(at: path)
            log = try Self.identity(target + "-wal")
            guard main.byteCount > 0 else {
                throw StoreError(.notAStore, "'\(path)' is empty, not an SQLite database. Check the path.")
            }
            guard let header = StoreFile.read(prefix: 100, of: path), header.count == 100,
                header.starts(with: "SQLite format 3\0".utf8)
            else {
                throw StoreError(
                    .notAStore, "'\(path)' is not an SQLite database, or it is encrypted. Check the path.")
            }
            // 'Rost' at offset 68 marks a store of Roost.
            if header[68..<72].elementsEqual("Rost".utf8) { throw Self.roostStore(path) }
            let hasLog = (log?.byteCount ?? 0) > 0
            // The header stores the page size 65536 as 1, so such files are not checked. SQLite itself refuses
            // invalid page sizes.
            let pageSize = Int(header[16]) << 8 | Int(header[17])
            if !hasLog, pageSize >= 512, main.byteCount % pageSize != 0 {
                throw StoreError(
                    .corrupted, "'\(path)' ends within a page, so its end is missing. Restore it from a backup.")
            }
            let usesLog = header[18] == 2 || header[19] == 2
            let hasIndex = try Self.identity(target + "-shm") != nil
            // While another connection has the log open, the log has an index file.
            mode = !usesLog || hasIndex ? .locked : hasLog ? .logInMemory : .immutable
            remark =
                mode == .immutable && main.linkCount > 1
                ? "The file has other names (hard links). If another name has a log file beside it, the rows in that log are not imported."
                : nil
        }

        private static func roostStore(_ path: String) -> StoreError {
            StoreError(
                .invalidRequest,
                "'\(path)' is a Roost store, which needs no import. Use 'roost convert' to copy it to another type.")
        }

        private static func identity(_ path: String) throws(StoreError) -> FileIdentity? {
            do throws(StoreError) { return try FileIdentity(at: path) } catch  where error.code == .notFound {
                return nil
            }
        }

        /// Throws `busy` if another program changed files that are read without locks.
        func verify() throws(StoreError) {
            guard mode != .locked else { return }
            let (now, logNow) = (try Self.identity(path), try Self.identity(target + "-wal"))
            let isSameLog = logNow.map { now in log.map { now.isUnchanged(since: $0) } ?? (now.byteCount == 0) } ?? true
            guard let now, now.isUnchanged(since: main), isSameLog, (logNow?.byteCount ?? 0) == (log?.byteCount ?? 0)
            else {
                throw StoreError(
                    .busy,
                    "Another program changed '\(path)' during the import. Close that program, or import a copy.")
            }
        }
    }
#endif
