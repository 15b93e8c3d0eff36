internal import RoostAppleModels
internal import RoostCore

#if SQLite

    /// The files in which Core Data stores large values.
    final class ExternalData {
        let storePath: String
        private var directory: BundleDirectory?
        private var isOpened = false

        init(storePath: String) { self.storePath = storePath }

        /// Returns the contents of a data file, or nil if it does not exist.
        ///
        /// Throws `corrupted` if the file is a symbolic link or a directory, and `limitExceeded` if
        /// a record cannot hold the contents.
        func contents(of name: String) throws(StoreError) -> [UInt8]? {
            if !isOpened {
                isOpened = true
                directory = try Self.open(storePath)
            }
            return try directory?.read(name, limit: RecordLayout.maximumByteCount, refusal: .corrupted)
        }

        func exists(_ name: String) throws(StoreError) -> Bool { try directoryNames().contains(name) }

        private var names: Set<String>?
        private func directoryNames() throws(StoreError) -> Set<String> {
            if let names { return names }
            let found = try Set(Self.open(storePath)?.names() ?? [])
            names = found
            return found
        }

        private static func open(_ path: String) throws(StoreError) -> BundleDirectory? {
            let (parent, components) = CoreDataSource.supportDirectory(of: path)
            var directory = try BundleDirectory.open(at: parent)
            for component in components { directory = try directory?.directory(component) }
            return directory
        }

        /// Returns the file name in a stored reference: the byte 2, a UUID as text, and an optional
        /// NUL.
        ///
        /// Returns nil for other bytes, so the name is never a path.
        static func name(in reference: [UInt8]) -> String? {
            guard reference.count == 38 || reference.count == 37, reference[0] == 2 else { return nil }
            let text = reference[1..<37]
            guard reference.count == 37 || reference[37] == 0,
                text.enumerated().allSatisfy({ index, byte in
                    switch byte {
                    case UInt8(ascii: "-"): [8, 13, 18, 23].contains(index)
                    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
                        UInt8(ascii: "a")...UInt8(ascii: "f"):
                        true
                    default: false
                    }
                })
            else { return nil }
            return String(decoding: text, as: UTF8.self)
        }
    }
#endif
