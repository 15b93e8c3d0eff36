internal import Foundation
package import RoostCore

/// The folding of strings for comparison: full Unicode case folding and removal of diacritics,
/// without a locale.
///
/// The result is that of Foundation's `folding(options:locale:)`, which ``withFolded(_:by:_:)``
/// calls only for few texts.
package enum TextFolding {
    /// Returns the folded text; only the options for case and diacritics have an effect.
    package static func folded(_ text: String, by options: FetchRequest.Comparison.Options) -> String {
        let options = foundationOptions(options)
        return options.isEmpty ? text : text.folding(options: options, locale: nil)
    }

    /// Runs `body` with the bytes of the folded text, which are valid only inside `body`.
    package static func withFolded<Result>(
        _ text: UnsafeRawBufferPointer, by options: FetchRequest.Comparison.Options,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        guard !foundationOptions(options).isEmpty else { return body(text) }
        if options.contains(.caseInsensitive) {
            let result: Result? = withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 1) { lowered in
                lower(text, into: lowered) ? body(UnsafeRawBufferPointer(lowered)) : nil
            }
            if let result { return result }
        } else if isASCII(text) {
            return body(text)
        }
        if let result = LatinFolding.table(options).withFolded(text, body) { return result }
        var folded = folded(String(decoding: text, as: UTF8.self), by: options)
        return folded.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
        var bits: UInt8 = 0
        // No early exit, so that the loop can be vectorized.
        for byte in text { bits |= byte }
        return bits < 0x80
    }

    /// Copies a text with ASCII letters in lower case; returns false if the text is not ASCII.
    private static func lower(_ text: UnsafeRawBufferPointer, into lowered: UnsafeMutableRawBufferPointer) -> Bool {
        var bits: UInt8 = 0
        // SAFETY: both buffers have `text.count` bytes. No early exit, so that the loop can be
        // vectorized.
        for index in 0..<text.count {
            let byte = text[index]
            bits |= byte
            lowered[index] = byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
        }
        return bits < 0x80
    }

    private static func foundationOptions(_ options: FetchRequest.Comparison.Options) -> String.CompareOptions {
        var result: String.CompareOptions = []
        if options.contains(.caseInsensitive) { result.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { result.insert(.diacriticInsensitive) }
        return result
    }
}
