internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    internal import RoostFiles

    /// The files of a Core Data store: the main file and its write-ahead log or journal.
    ///
    /// Without a log, the main file is opened as immutable. With a log, the log index is in memory.
    /// No new file appears in the directory, so the directory may be read-only. A store with a
    /// rollback journal is copied, and the copy is rolled back.
    ///
    /// Nothing is locked, so each read ends with a check for changed files. After a change, the
    /// result is discarded and `busy` is thrown. If the originals of a copy have changed, opening
    /// another connection throws `storeReplaced`.
    ///
    /// Closing a file releases all POSIX locks that the process holds on it. So this type refuses a
    /// file that is open as one of Roost's own stores. A program must not read a store through this
    /// type while the program has the file open with SQLite itself.
    struct CoreDataSource: Sendable {
        /// The path of the main file.
        let path: String
        private let main: FileStamp
        private let copy: PrivateDirectory?
        /// The state of the files before they were copied; empty without a copy.
        private let copiedStamps: [FileStamp?]

        /// Examines the files of the store at `path`.
        ///
        /// Refuses a file with other hard links unless `acceptsLinks` is true or the path has a log
        /// or journal.
        init(path: String, acceptsLinks: Bool) throws(StoreError) {
            self.path = path
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw StoreError(.notFound, "Cannot open '\(path)': the file does not exist. Check the path.")
            }
            try StoreFile.requireRegularFile(at: path, forWriting: false)
            guard let main = try FileStamp(at: path) else {
                throw StoreError(.notFound, "Cannot open '\(path)': the file does not exist. Check the path.")
            }
            guard main.size > 0 else {
                throw StoreError(.notAStore, "'\(path)' is empty, so it is not a Core Data store. Check the path.")
            }
            self.main = main
            try Self.requireLog(ofStoreAt: path, acceptsLinks: acceptsLinks)
            if let journal = try FileStamp(at: path + "-journal"), journal.size > 0 {
                let (directory, name) = Self.split(path)
                copiedStamps = try Self.stamps(ofStoreAt: path)
                copy = try PrivateDirectory(copying: [name, name + "-journal", name + "-wal"], of: directory)
            } else {
                (copy, copiedStamps) = (nil, [])
                try Self.requireWholeFile(path, size: main.size)
            }
        }

        private static func stamps(ofStoreAt path: String) throws(StoreError) -> [FileStamp?] {
            var stamps: [FileStamp?] = []
            for suffix in ["", "-journal", "-wal"] { stamps.append(try FileStamp(at: path + suffix)) }
            return stamps
        }

        /// Refuses a log or journal that is not a regular file, and a main file whose log may be at
        /// another path.
        ///
        /// SQLite derives the log's path from the path that it opened, so the log may be next to
        /// another hard link.
        private static func requireLog(ofStoreAt path: String, acceptsLinks: Bool) throws(StoreError) {
            var hasLog = false
            for suffix in ["-wal", "-journal"] {
                guard let stamp = try FileStamp(at: path + suffix) else { continue }
                guard stamp.isRegular else {
                    throw StoreError(
                        .notAStore,
                        "Cannot open '\(path)': its log or journal '\(path)\(suffix)' is not a file. Move it away."
                    )
                }
                if stamp.size > 0 { hasLog = true }
            }
            if !hasLog, !acceptsLinks { try StoreFile.requireReplaceableName(at: path) }
        }

        /// Refuses a truncated file, from which SQLite would silently read zeros.
        ///
        /// Missing whole pages are allowed, because they may be in the log.
        private static func requireWholeFile(_ path: String, size: Int64) throws(StoreError) {
            guard let head = StoreFile.read(prefix: 18, of: path), head.count == 18,
                head.starts(with: "SQLite format 3\0".utf8)
            else { return }
            // The value 1 means 65536.
            let stored = Int64(head[16]) << 8 | Int64(head[17])
            let pageSize = stored == 1 ? 65536 : stored
            guard pageSize >= 512, size % pageSize != 0 else { return }
            throw StoreError(
                .corrupted, "'\(path)' ends within a page, so its end is missing. Restore it from a backup.")
        }

        /// Opens a connection to the current files of the store.
        ///
        /// - Throws: `storeReplaced` if the path now refers to another file, or if the files have
        ///   changed since they were copied; `busy` if a rollback journal has appeared;
        ///   `notAStore` if the file is open as one of Roost's own stores; errors of
        ///   ``ForeignDatabase``.
        func open() throws(StoreError) -> (database: ForeignDatabase, guard: SourceGuard) {
            guard !HeldFiles.shared.contains(path) else {
                throw StoreError(
                    .notAStore,
                    "Cannot open '\(path)' as a Core Data store: this process has it open as a store of another type.")
            }
            let stamps = try SourceGuard(path: path, main: main)
            if copy != nil, try Self.stamps(ofStoreAt: path) != copiedStamps {
                throw StoreError(
                    .storeReplaced,
                    "Cannot read '\(path)': another program changed the file after Roost copied it; close the store and open it again."
                )
            }
            if copy == nil, let journal = try FileStamp(at: path + "-journal"), journal.size > 0 {
                throw StoreError(
                    .busy,
                    "'\(path)' is being changed by another program. Try again; if that program has ended, close the store and open it again."
                )
            }
            let name = Self.split(path).name
            let database = try ForeignDatabase(
                file: copy.map { "\($0.path)/\(name)" } ?? path, path: path,
                mode: copy != nil ? .privateCopy : stamps.hasLog ? .logInMemory : .immutable,
                structureError: StoreError(
                    .corrupted, "'\(path)' does not have the tables of a Core Data store; restore it from a backup."))
            if copy == nil { try database.execute("PRAGMA query_only=ON") }
            return (database, stamps)
        }

        static func split(_ path: String) -> (directory: String, name: String) {
            guard let slash = path.lastIndex(of: "/") else { return (".", path) }
            let directory = path[..<slash]
            return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
        }

        /// Returns the directory for large values of the store at `path`:
        /// `.<name without extension>_SUPPORT/_EXTERNAL_DATA`.
        static func supportDirectory(of path: String) -> (parent: String, components: [String]) {
            let (directory, name) = split(path)
            let stem = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : String(name[..<$0]) } ?? name
            return (directory, [".\(stem)_SUPPORT", "_EXTERNAL_DATA"])
        }
    }

    /// The state of a store's files when a connection was opened.
    struct SourceGuard {
        private let path: String
        private let main: FileStamp?
        private let log: FileStamp?
        /// Whether a write-ahead log exists and is not empty.
        var hasLog: Bool { (log?.size ?? 0) > 0 }

        init(path: String, main original: FileStamp) throws(StoreError) {
            self.path = path
            main = try FileStamp(at: path)
            log = try FileStamp(at: path + "-wal")
            guard let main, main.device == original.device, main.inode == original.inode else {
                throw Self.replaced(path)
            }
        }

        private static func replaced(_ path: String) -> StoreError {
            StoreError(
                .storeReplaced,
                "The file '\(path)' was removed or replaced since the store was opened; close the store and open the new one."
            )
        }

        /// Throws `busy` if the files changed since the connection was opened, or `storeReplaced`
        /// if the main file was removed or replaced.
        func verify() throws(StoreError) {
            let now = try FileStamp(at: path)
            guard let now, now.inode == main?.inode, now.device == main?.device else { throw Self.replaced(path) }
            guard now == main, try FileStamp(at: path + "-wal") == log else {
                throw StoreError(
                    .busy,
                    "'\(path)' was changed by another program while it was read; close that program, or read a copy, and try again."
                )
            }
        }
    }
#endif
