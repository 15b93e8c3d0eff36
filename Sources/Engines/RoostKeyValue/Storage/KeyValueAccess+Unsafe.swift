internal import RoostCore

/// Typed access to a storage: keys, numbers, byte arrays, and verified records.
extension KeyValueReader {
    func withValue(
        of key: StorageKey, in space: KeySpace, _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try key.withBytes { (key) throws(StoreError) in try withValue(of: key, in: space, body) }
    }

    func value(of key: StorageKey, in space: KeySpace) throws(StoreError) -> [UInt8]? {
        var found: [UInt8]?
        try withValue(of: key, in: space) { (value) throws(StoreError) in found = value.map { Array($0) } }
        return found
    }

    func contains(_ key: ShortKey) throws(StoreError) -> Bool {
        var found = false
        try key.withBytes { (key) throws(StoreError) in
            try withValue(of: key, in: .records) { (value) throws(StoreError) in found = value != nil }
        }
        return found
    }

    func contains(_ key: StorageKey, in space: KeySpace) throws(StoreError) -> Bool {
        var found = false
        try withValue(of: key, in: space) { (value) throws(StoreError) in found = value != nil }
        return found
    }

    /// Returns the number in a value of eight little-endian bytes; nil for a missing key or a value
    /// of another length.
    func number(of key: StorageKey, in space: KeySpace) throws(StoreError) -> Int64? {
        var found: Int64?
        try withValue(of: key, in: space) { (value) throws(StoreError) in
            guard let value, value.count == 8 else { return }
            found = value.littleEndian64(at: 0).map { Int64(bitPattern: $0) }
        }
        return found
    }

    /// Calls `body` with a verified record, or with nil if the record does not exist.
    func withRecord(
        _ key: Int64, root: Int, model: ManagedObjectModel, _ body: (RecordReader?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try ShortKey(record: key, root: root).withBytes { (storageKey) throws(StoreError) in
            try withValue(of: storageKey, in: .records) { (value) throws(StoreError) in
                guard let value else { return try body(nil) }
                try body(try RecordVerifier(model: model, root: root).record(value, key: key))
            }
        }
    }

    func entityNumber(of key: Int64, root: Int, model: ManagedObjectModel) throws(StoreError) -> Int? {
        var number: Int?
        try withRecord(key, root: root, model: model) { (record) throws(StoreError) in number = record?.entityNumber }
        return number
    }

    /// Calls `body` for each entry whose key begins with `prefix`, until `body` returns false.
    func forEach(
        prefix: StorageKey, in space: KeySpace,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let cursor = try cursor(in: space)
        guard try prefix.withBytes({ (bytes) throws(StoreError) in try cursor.seek(to: bytes) }) else { return }
        while cursor.key.begins(with: prefix.bytes) {
            guard try body(cursor.key, cursor.value), try cursor.next() else { return }
        }
    }
}

extension KeyValueWriter {
    func put(_ key: StorageKey, _ value: [UInt8], in space: KeySpace) throws(StoreError) {
        try value.span.bytes.withUnsafeBytes { (value) throws(StoreError) in try put(key, value, in: space) }
    }

    func put(_ key: StorageKey, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try key.withBytes { (key) throws(StoreError) in try put(key, value, in: space) }
    }

    func append(_ key: StorageKey, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try key.withBytes { (key) throws(StoreError) in try append(key, value, in: space) }
    }

    func put(_ key: StorageKey, number: Int64, in space: KeySpace) throws(StoreError) {
        try withUnsafeBytes(of: number.littleEndian) { (value) throws(StoreError) in try put(key, value, in: space) }
    }

    /// Returns false without a change if the key exists.
    func insert(_ key: UnsafeRawBufferPointer, number: Int64, in space: KeySpace) throws(StoreError) -> Bool {
        try withUnsafeBytes(of: number.littleEndian) { (value) throws(StoreError) in
            try insert(key, value, in: space)
        }
    }

    @discardableResult
    func delete(_ key: StorageKey, in space: KeySpace) throws(StoreError) -> Bool {
        try key.withBytes { (key) throws(StoreError) in try delete(key, in: space) }
    }
}

extension KeyValueCursor {
    func seek(before key: [UInt8]?) throws(StoreError) -> Bool {
        guard let key else { return try seek(before: UnsafeRawBufferPointer?.none) }
        return try key.span.bytes.withUnsafeBytes { (key) throws(StoreError) in try seek(before: key) }
    }

    func seek(to key: [UInt8]) throws(StoreError) -> Bool {
        try key.span.bytes.withUnsafeBytes { (key) throws(StoreError) in try seek(to: key) }
    }

    func seek(to key: StorageKey) throws(StoreError) -> Bool {
        try key.withBytes { (key) throws(StoreError) in try seek(to: key) }
    }
}
