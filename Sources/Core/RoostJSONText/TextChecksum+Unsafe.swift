internal import CXXHash
internal import RoostSystem

/// An XXH3-128 checksum of a text that is added in pieces.
package struct TextChecksum: ~Copyable {
    private let state: OpaquePointer

    package init() {
        // SAFETY: the library returns nil only if memory is exhausted, which is fatal in Swift too.
        guard let state = XXH3_createState() else { preconditionFailure("out of memory") }
        self.state = state
        XXH3_128bits_reset(state)
    }

    deinit { XXH3_freeState(state) }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        XXH3_128bits_update(state, start, bytes.count)
    }

    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    /// The checksum of all added bytes.
    package var value: (high: UInt64, low: UInt64) {
        let hash = XXH3_128bits_digest(state)
        return (hash.high64, hash.low64)
    }

    package var text: String { Self.text(value) }

    /// Returns a checksum as 32 lowercase hexadecimal digits.
    package static func text(_ value: (high: UInt64, low: UInt64)) -> String {
        value.high.hexadecimal + value.low.hexadecimal
    }
}
