extension DiskNode.Change {
    /// Applies a change of the file to bytes, with zeros where the file grows.
    func apply(to bytes: inout [UInt8]) {
        switch self {
        case .resize(let size):
            if bytes.count > size {
                bytes.removeLast(bytes.count - size)
            } else {
                bytes += [UInt8](repeating: 0, count: size - bytes.count)
            }
        case .write(let offset, let data):
            if bytes.count < offset + data.count { Self.resize(offset + data.count).apply(to: &bytes) }
            bytes.replace(from: offset, with: data[...])
        }
    }
}

extension [UInt8] {
    /// Replaces `data.count` existing bytes from `offset` on with `data`.
    mutating func replace(from offset: Int, with data: ArraySlice<UInt8>) {
        precondition(offset >= 0 && data.count <= count - offset)
        withUnsafeMutableBytes { bytes in
            data.withUnsafeBytes { data in
                // SAFETY: `data` fits after `offset` (precondition), and the two arrays are
                // different.
                UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + data.count]).copyMemory(from: data)
            }
        }
    }

    func combine(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }
}
