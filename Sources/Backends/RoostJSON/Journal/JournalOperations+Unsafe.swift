internal import RoostCore
internal import RoostKeyValue

/// The puts and deletes of one write transaction, as encoded in a journal's frame.
struct JournalOperations: Sendable {
    private enum Kind {
        static let end: UInt8 = 0
        static let put: UInt8 = 1
        static let delete: UInt8 = 2
    }

    private(set) var bytes: [UInt8] = []
    /// Whether the operations exceeded ``limit`` and were dropped.
    private(set) var isOverLimit = false
    private let limit: Int

    /// Creates an empty list for at most `limit` bytes.
    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { bytes.isEmpty && !isOverLimit }

    /// The payload of a frame, padded to a multiple of eight bytes.
    var payload: [UInt8] { bytes + [UInt8](repeating: Kind.end, count: (8 - bytes.count % 8) % 8) }

    /// Returns the operations and empties this list.
    ///
    /// Only the result then refers to the bytes, so adding operations to it copies nothing.
    mutating func take() -> Self {
        defer { bytes = [] }
        return self
    }

    mutating func put(_ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, space: KeySpace) {
        guard makeRoom(key.count + value.count) else { return }
        begin(Kind.put, key: key, space: space)
        bytes.append(half: UInt32(truncatingIfNeeded: value.count))
        bytes.append(contentsOf: key)
        bytes.append(contentsOf: value)
    }

    mutating func delete(_ key: UnsafeRawBufferPointer, space: KeySpace) {
        guard makeRoom(key.count) else { return }
        begin(Kind.delete, key: key, space: space)
        bytes.append(contentsOf: key)
    }

    private mutating func begin(_ kind: UInt8, key: UnsafeRawBufferPointer, space: KeySpace) {
        bytes.append(kind)
        bytes.append(UInt8(truncatingIfNeeded: space.position))
        bytes.append(quarter: UInt16(truncatingIfNeeded: key.count))
    }

    private mutating func makeRoom(_ byteCount: Int) -> Bool {
        guard !isOverLimit else { return false }
        if bytes.count + byteCount + 8 > limit {
            isOverLimit = true
            bytes = []
        }
        return !isOverLimit
    }

    /// Applies the operations of a frame.
    ///
    /// Returns false if the bytes are invalid.
    static func apply(_ payload: [UInt8], to writer: any KeyValueWriter) throws(StoreError) -> Bool {
        var position = 0
        while payload.count - position >= 4, payload[position] != Kind.end {
            let kind = payload[position]
            guard let space = KeySpace.allCases.first(where: { $0.position == Int(payload[position + 1]) }) else {
                return false
            }
            let keyCount = Int(payload.quarter(at: position + 2))
            position += 4
            guard keyCount > 0, kind == Kind.put || kind == Kind.delete else { return false }
            var valueCount = 0
            if kind == Kind.put {
                guard payload.count - position >= 4 else { return false }
                valueCount = Int(payload.half(at: position))
                position += 4
            }
            guard payload.count - position >= keyCount + valueCount else { return false }
            let (key, value) = (
                position..<position + keyCount, position + keyCount..<position + keyCount + valueCount
            )
            try payload.withBytes(key) { (key) throws(StoreError) in
                if kind == Kind.put {
                    try payload.withBytes(value) { (value) throws(StoreError) in
                        try writer.put(key, value, in: space)
                    }
                } else {
                    try writer.delete(key, in: space)
                }
            }
            position = value.upperBound
        }
        return payload.count - position < 8 && payload.isZero(position..<payload.count)
    }
}

final class RecordingWriter: KeyValueWriter {
    private let base: any KeyValueWriter
    private(set) var operations: JournalOperations

    init(_ base: any KeyValueWriter, operations: JournalOperations) {
        self.base = base
        self.operations = operations
    }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try base.withValue(of: key, in: space, body)
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor { try base.cursor(in: space) }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try base.put(key, value, in: space)
        operations.put(key, value: value, space: space)
    }

    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace
    ) throws(StoreError) -> Bool {
        let isNew = try base.insert(key, value, in: space)
        if isNew { operations.put(key, value: value, space: space) }
        return isNew
    }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try base.append(key, value, in: space)
        operations.put(key, value: value, space: space)
    }

    func delete(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> Bool {
        let wasThere = try base.delete(key, in: space)
        if wasThere { operations.delete(key, space: space) }
        return wasThere
    }

    func close() { base.close() }
}
