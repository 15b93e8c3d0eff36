internal import RoostCore
internal import RoostFiles
internal import RoostJSONText
internal import RoostText

/// A document that is open for reading.
///
/// If another file replaces the document at the path, reads still use the opened file.
final class DocumentFile: Sendable {
    let path: String
    /// The file's identity when opened.
    let identity: FileIdentity
    private let file: RegularFile

    /// Opens the document at `path`, which must not be a link.
    init(at path: String) throws(StoreError) {
        file = try RegularFile(at: path)
        identity = try file.identity()
        self.path = path
    }

    var byteCount: Int { file.byteCount }

    func isUnchanged() throws(StoreError) -> Bool { try file.identity().isUnchanged(since: identity) }

    func requireUnchanged() throws(StoreError) {
        guard try !isUnchanged() else { return }
        throw StoreError(.busy, "'\(path)' was edited by another program while it was read; open it again.")
    }

    /// Returns a reader of the first `byteCount` bytes, or of the whole file.
    ///
    /// The reader keeps the file open.
    func reader(byteCount: Int? = nil, computesChecksum: Bool = false) -> JSONTokenReader {
        let end = byteCount ?? self.byteCount
        var offset = 0
        return JSONTokenReader(name: path, computesChecksum: computesChecksum) { [self] (buffer) throws(StoreError) in
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(end - offset))
            let count = try file.read(into: room, at: offset)
            offset += count
            return count
        }
    }

    func read(at offset: Int, count: Int) throws(StoreError) -> [UInt8] {
        try file.bytes(at: offset, count: count)
    }
}
