internal import CXXHash

/// The checksum of a text that comes in pieces: XXH3-128.
public struct TextChecksum: ~Copyable {
    private let state: OpaquePointer

    /// The checksum of no bytes.
    public init() {
        // SAFETY: the library gives nil only when memory is out, which Swift's own allocations do not survive either.
        guard let state = XXH3_createState() else { preconditionFailure("out of memory") }
        self.state = state
        XXH3_128bits_reset(state)
    }

    deinit { XXH3_freeState(state) }

    /// Adds the next bytes.
    public mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        XXH3_128bits_update(state, start, bytes.count)
    }

    /// Adds the next bytes.
    public mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    /// The checksum of everything that was added, high half first.
    public var value: (high: UInt64, low: UInt64) {
        let hash = XXH3_128bits_digest(state)
        return (hash.high64, hash.low64)
    }

    /// The checksum as text: 32 hexadecimal digits, lower case.
    public var text: String { Self.text(value) }

    /// A checksum as text: 32 hexadecimal digits, lower case.
    public static func text(_ value: (high: UInt64, low: UInt64)) -> String {
        func padded(_ half: UInt64) -> String {
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return padded(value.high) + padded(value.low)
    }
}
