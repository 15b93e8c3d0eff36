internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// The checksum line of a document.
enum DocumentChecksum {
    private static let remedy =
        "if you edited it by hand, remove the line that begins with , \"checksum\"; else restore it from a copy"

    /// Returns the end of a document, from the key `checksum` on.
    static func tail(_ checksum: (high: UInt64, low: UInt64)) -> String {
        "\"\(DocumentFormat.Member.checksum.key)\": \"\(TextChecksum.text(checksum))\"\n}\n"
    }

    /// Reads the checksum, whose key is the current token, and checks the document against it.
    ///
    /// Returns the hash and length of the bytes before the key.
    static func read(_ text: inout JSONTokenReader, file: DocumentFile) throws(StoreError) -> DocumentVersion {
        guard let value = text.checksumBeforeToken() else {
            throw StoreError(.internalInconsistency, "The checksum of '\(text.name)' was not computed.")
        }
        let byteCount = text.tokenByteOffset
        try text.expect(.string, "the checksum as a string")
        guard text.text == TextChecksum.text(value) else {
            throw text.error("the document does not match its checksum: it was changed or damaged; \(remedy)")
        }
        let tail = Array(tail(value).utf8)
        guard file.byteCount - byteCount == tail.count, try file.read(at: byteCount, count: tail.count) == tail else {
            throw text.error("the end of the document, which no checksum covers, is not as it was written; \(remedy)")
        }
        return DocumentVersion(high: value.high, low: value.low, byteCount: byteCount)
    }

    /// Returns a checksum error if the document does not match its checksum, otherwise `error`.
    static func explain(_ error: StoreError, file: DocumentFile) throws(StoreError) -> StoreError {
        let key = Array("\"\(DocumentFormat.Member.checksum.key)\"".utf8)
        let tailStart = max(0, file.byteCount - 256)
        let tail = try file.read(at: tailStart, count: file.byteCount - tailStart)
        guard let place = tail.indices.last(where: { tail[$0...].starts(with: key) }) else { return error }
        var checksum = TextChecksum()
        var offset = 0
        while offset < tailStart + place {
            let bytes = try file.read(at: offset, count: min(1 << 18, tailStart + place - offset))
            // The file was truncated while it was read.
            guard !bytes.isEmpty else { return error }
            checksum.add(bytes)
            offset += bytes.count
        }
        let rest = tail[(place + key.count)...]
        let text = Array(checksum.text.utf8)
        if rest.indices.contains(where: { rest[$0...].starts(with: text) }) { return error }
        guard !error.message.contains(remedy) else { return error }
        return error.withMessage(
            "'\(file.path)' does not match its checksum: it was changed or damaged; \(remedy). What is wrong with it: \(error.message)",
            code: .corrupted)
    }
}
