internal import RoostCore

extension ExternalSorter {
    func append(_ key: StorageKey, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try key.withBytes { (key) throws(StoreError) in try append(key, value, in: space.group) }
    }

    /// Adds an entry whose value is a little-endian number of eight bytes.
    func append(_ key: StorageKey, number: Int64, in space: KeySpace) throws(StoreError) {
        try withUnsafeBytes(of: number.littleEndian) { (value) throws(StoreError) in
            try append(key, value, in: space)
        }
    }

    func append(_ key: StorageKey, in space: KeySpace) throws(StoreError) { try append(key, .none, in: space) }
}

extension EntryArena {
    mutating func append(_ key: StorageKey, _ value: UnsafeRawBufferPointer, in space: KeySpace) {
        key.bytes.withUnsafeBytes { append($0, value, in: space.group) }
    }

    func forEachKey(
        _ body: (_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        try forEach { (entry) throws(StoreError) in
            let key = Self.key(of: entry)
            guard let space = KeySpace(position: Int(key[0])) else { return }
            try body(space, UnsafeRawBufferPointer(rebasing: key.dropFirst()))
        }
    }
}

extension KeySpace {
    fileprivate var group: UInt8 { UInt8(truncatingIfNeeded: position) }

    private static let byPosition = allCases.sorted { $0.position < $1.position }

    init?(position: Int) {
        guard Self.byPosition.indices.contains(position) else { return nil }
        self = Self.byPosition[position]
    }
}

extension UnsafeRawBufferPointer {
    static var none: Self { Self(start: nil, count: 0) }
}
