internal import RoostCore
internal import RoostFiles

/// The journal of a store that is open for writing.
///
/// Each commit is appended and flushed. The journal is used only under the lock of the storage's
/// files.
final class JournalFile {
    static let suffix = "-journal"

    private let file: WritableFile
    /// The identity of the file at the journal's path.
    let identity: FileIdentity
    /// The offset of the next frame.
    private(set) var endOffset: Int
    /// The check of the last frame, or of the header if the journal has no frame.
    private(set) var chain: UInt64
    /// The error that prevents appending, or nil.
    ///
    /// After a failed flush or a failed truncation, the end of the file is unknown, so nothing is
    /// appended.
    var failure: StoreError?

    /// Creates the journal and its first frame, with the permissions of the document.
    ///
    /// - Throws: The system's error if the transaction was not written; `outcomeUnknown` if the
    ///   journal may contain the transaction.
    init(at path: String, beside document: String, header: JournalHeader, payload: [UInt8]) throws(StoreError) {
        try StoreFile.createExclusive(at: path)
        var isWritten = false
        do throws(StoreError) {
            try StoreFile.takePermissions(for: path, from: document)
            let head = header.bytes
            let frame = JournalFrame(of: payload, at: head.count, chain: JournalHeader.check(head))
            let frameHead = frame.bytes
            let bytes = head + frameHead + payload
            let file = try WritableFile(at: path)
            try bytes.withBytes(0..<bytes.count) { (bytes) throws(StoreError) in try file.write(bytes, at: 0) }
            isWritten = true
            try file.sync()
            try StoreFile.syncDirectory(of: path)
            identity = try file.identity()
            self.file = file
            endOffset = bytes.count
            chain = JournalFrame.check(frameHead)
        } catch {
            let isRemoved = (try? StoreFile.remove(path)) != nil
            // An incomplete frame is not a commit, even if the file remains.
            guard isWritten else { throw error }
            guard isRemoved, (try? StoreFile.syncDirectory(of: path)) != nil else {
                throw Self.unknownOutcome(error, at: path)
            }
            throw error
        }
    }

    /// Opens a recovered journal for appending, and removes an incomplete commit from its end.
    init(at path: String, after state: JournalState) throws(StoreError) {
        file = try WritableFile(at: path)
        if state.tornByteCount > 0 {
            try file.setByteCount(state.endOffset)
            try file.sync()
        }
        identity = try file.identity()
        (endOffset, chain) = (state.endOffset, state.chain)
    }

    /// Appends a transaction durably.
    ///
    /// - Throws: The system's error if the journal contains nothing of the transaction, even after
    ///   a power cut; `outcomeUnknown` otherwise.
    func append(_ payload: [UInt8]) throws(StoreError) {
        if let failure { throw failure }
        let head = JournalFrame(of: payload, at: endOffset, chain: chain).bytes
        let bytes = head + payload
        do throws(StoreError) {
            try bytes.withBytes(0..<bytes.count) { (bytes) throws(StoreError) in try file.write(bytes, at: endOffset) }
        } catch {
            // Truncating restores the file. If truncating fails, the frame remains incomplete and
            // so is not a commit.
            do throws(StoreError) { try file.setByteCount(endOffset) } catch { failure = error }
            throw error
        }
        do throws(StoreError) { try file.sync() } catch {
            failure = error
            // The frame is complete, and may be on the disk.
            guard (try? removeLastFrame()) != nil else { throw Self.unknownOutcome(error, at: file.path) }
            throw error
        }
        endOffset += bytes.count
        chain = JournalFrame.check(head)
    }

    /// Removes the frame after ``endOffset`` durably.
    private func removeLastFrame() throws(StoreError) {
        try file.setByteCount(endOffset)
        // The earlier flush failed, so the frame's bytes may be lost. This flush only makes the new
        // length durable.
        try file.sync()
    }

    private static func unknownOutcome(_ error: StoreError, at path: String) -> StoreError {
        StoreError(
            .outcomeUnknown,
            "It is unknown whether the commit was made, because the journal '\(path)' could neither be flushed nor be restored; close the store, open it again and read the objects. The reason: \(error.message)",
            underlying: error)
    }

    /// Throws `storeReplaced` if the journal file was removed, replaced or changed.
    func requireCurrent() throws(StoreError) {
        let now: FileIdentity
        do throws(StoreError) { now = try FileIdentity(at: file.path) } catch {
            throw StoreError(
                .storeReplaced, "The journal '\(file.path)' was removed while the store was open. Close the store.",
                underlying: error)
        }
        // A failed write or flush may have left more bytes at the end.
        guard now == identity, failure != nil ? now.byteCount >= endOffset : now.byteCount == endOffset else {
            throw StoreError(
                .storeReplaced,
                "Another program changed the journal '\(file.path)' while the store was open. Close the store.")
        }
    }
}
