internal import CXXHash
internal import RoostSystem

/// The checksum of a text that comes in pieces: XXH3-128.
package struct TextChecksum: ~Copyable {
    private let state: OpaquePointer

    /// The checksum of no bytes.
    package init() {
        // SAFETY: the library gives nil only when memory is out, which Swift's own allocations do
        // not survive either.
        guard let state = XXH3_createState() else { preconditionFailure("out of memory") }
        self.state = state
        XXH3_128bits_reset(state)
    }

    deinit { XXH3_freeState(state) }

    /// Adds the next bytes.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        XXH3_128bits_update(state, start, bytes.count)
    }

    /// Adds the next bytes.
    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    /// The checksum of everything that was added, high half first.
    package var value: (high: UInt64, low: UInt64) {
        let hash = XXH3_128bits_digest(state)
        return (hash.high64, hash.low64)
    }

    /// The checksum as text: 32 hexadecimal digits, lower case.
    package var text: String { Self.text(value) }

    /// A checksum as text: 32 hexadecimal digits, lower case.
    package static func text(_ value: (high: UInt64, low: UInt64)) -> String {
        value.high.hexadecimal + value.low.hexadecimal
    }
}
