import RoostCore

#if LMDB
    import Foundation
    import RoostKeyValue
    @testable import RoostLMDB
    import Testing

    /// A directory for one test, removed when the test releases it.
    final class LMDBDirectory: Sendable {
        let path: String

        init() throws {
            path = NSTemporaryDirectory() + "roost-lmdb-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var store: String { "\(path)/store" }
        func file(_ name: String) -> String { "\(path)/\(name)" }
        var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
        func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: store)) }
        func write(_ bytes: Data, as name: String = "store") throws {
            try bytes.write(to: URL(fileURLWithPath: file(name)))
        }

        func create(
            initialMap: Int? = nil, maximumMap: Int? = nil, timeout: Double = 0, isUnpublished: Bool = false
        ) throws -> LMDBStorage {
            var settings = try LMDBSettings(
                StoreOptions(timeoutSeconds: timeout).with { $0.isUnpublished = isUnpublished })
            settings.initialMapByteCount = initialMap
            if let maximumMap { settings.maximumMapByteCount = maximumMap }
            return try LMDBStorage.create(path: store, settings: settings)
        }

        func open(isReadOnly: Bool = false) throws -> LMDBStorage {
            try LMDBStorage.open(path: store, options: StoreOptions(isReadOnly: isReadOnly, timeoutSeconds: 0))
        }
    }

    /// Returns the code of the error that `body` throws, if any.
    func errorCode(_ body: () throws -> Void) -> StoreError.Code? {
        do { try body() } catch let error as StoreError { return error.code } catch {
            return StoreError.Code("\(error)")
        }
        return nil
    }

    extension KeyValueReader {
        func text(_ key: String, in space: KeySpace = .records) throws -> String? {
            var found: String?
            try key.utf8Bytes { (key) throws(StoreError) in
                try withValue(of: key, in: space) { (value) throws(StoreError) in
                    found = value.map { String(decoding: $0, as: UTF8.self) }
                }
            }
            return found
        }

        /// Returns all entries of a space in order, as `key=value`.
        func entries(_ space: KeySpace = .records) throws -> [String] {
            let cursor = try cursor(in: space)
            var entries: [String] = []
            while try cursor.next() {
                entries.append(
                    String(decoding: cursor.key, as: UTF8.self) + "=" + String(decoding: cursor.value, as: UTF8.self))
            }
            return entries
        }
    }

    extension KeyValueWriter {
        func put(_ key: String, _ value: String, in space: KeySpace = .records) throws(StoreError) {
            try key.utf8Bytes { (key) throws(StoreError) in
                try value.utf8Bytes { (value) throws(StoreError) in try put(key, value, in: space) }
            }
        }

        func append(_ key: String, _ value: String, in space: KeySpace = .records) throws(StoreError) {
            try key.utf8Bytes { (key) throws(StoreError) in
                try value.utf8Bytes { (value) throws(StoreError) in try append(key, value, in: space) }
            }
        }

        @discardableResult
        func delete(_ key: String, from space: KeySpace = .records) throws(StoreError) -> Bool {
            var existed = false
            try key.utf8Bytes { (key) throws(StoreError) in existed = try delete(key, in: space) }
            return existed
        }
    }

    extension KeyValueCursor {
        func seek(_ key: String) throws -> String? {
            var isFound = false
            try key.utf8Bytes { (key) throws(StoreError) in isFound = try seek(to: key) }
            return isFound ? String(decoding: self.key, as: UTF8.self) : nil
        }
    }

    extension String {
        func utf8Bytes(_ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
            let bytes = Array(utf8)
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try body(bytes) }
        }
    }
#endif
