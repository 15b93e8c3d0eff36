internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue

struct JournalState: Sendable {
    /// The relation between a journal and the document beside it.
    enum Relation: Sendable {
        /// The journal has no acknowledged commit, because of a crash before its header was on the
        /// disk.
        case empty
        /// The document already contains the commits, because of a crash before the journal was
        /// removed.
        case folded
        case applied
    }

    var relation: Relation
    /// The offset of the next frame, which is the end of the last complete frame.
    var endOffset = 0
    /// The check of the last complete frame, or of the header.
    var chain: UInt64 = 0
    var frameCount = 0
    /// The number of bytes of an incomplete frame at the end, whose commit was never acknowledged.
    var tornByteCount = 0
}

/// Reads the complete frames of a store's journal.
///
/// An incomplete frame at the end of the file comes from a crash and is skipped. Any other mismatch
/// is damage and throws `corrupted` with the offset.
struct JournalRecovery: ~Copyable {
    private let file: RegularFile
    private let path: String
    /// The size of the file when it was opened; a writer may be appending more bytes.
    private let byteCount: Int

    init(_ file: consuming RegularFile, path: String) {
        byteCount = file.byteCount
        self.file = file
        self.path = path
    }

    /// Returns the first bytes of the journal beside a store, or nil without a journal.
    ///
    /// Throws `notAStore` if the file is not a journal.
    @discardableResult
    static func requireJournal(besideStoreAt path: String) throws(StoreError) -> [UInt8]? {
        let journalPath = path + JournalFile.suffix
        try StoreFile.requirePlainCompanions([JournalFile.suffix], ofStoreAt: path)
        guard let head = StoreFile.read(prefix: JournalHeader.byteCount, of: journalPath) else { return nil }
        guard !JournalHeader.isForeign(head) else { throw JournalHeader.foreign(journalPath) }
        return head
    }

    /// Checks that a journal belongs to the store beside it, before both are removed.
    ///
    /// If the journal or the document is damaged, the check passes, because the stores cannot be
    /// compared.
    static func requireOwnToRemove(besideStoreAt path: String) throws(StoreError) {
        guard let head = try requireJournal(besideStoreAt: path) else { return }
        let journalPath = path + JournalFile.suffix
        guard let header = try? JournalHeader(head, path: journalPath),
            let file = try? DocumentFile(at: path), let uuid = DocumentHead.storeUUID(of: file),
            header.storeUUID != uuid
        else { return }
        throw foreign(journalPath, how: "belongs to another store (\(header.storeUUID))")
    }

    /// Reads the whole journal, and applies its frames to `storage` if they continue the document.
    ///
    /// An error leaves `storage` unchanged. `foldedJournal` is the check of the last journal frame
    /// merged into the document, or nil.
    func replay(
        into storage: any OrderedKeyValueStorage, document: DocumentVersion, storeUUID: StoreUUID,
        foldedJournal: UInt64?
    ) throws(StoreError) -> JournalState {
        let head = try read(at: 0, count: JournalHeader.byteCount)
        guard head.count == JournalHeader.byteCount, !head.isZero(0..<head.count) else {
            guard try !hasFrame(from: 0) else { throw damaged(at: 0, reason: "its header is missing") }
            // A file of another program must not be treated as a journal and then removed.
            guard JournalHeader.canBegin(head) else { throw JournalHeader.foreign(path) }
            return JournalState(relation: .empty, tornByteCount: byteCount)
        }
        let header = try JournalHeader(head, path: path)
        guard header.storeUUID == storeUUID else {
            throw Self.foreign(path, how: "belongs to another store (\(header.storeUUID))")
        }
        let chain = JournalHeader.check(head)
        guard header.document == document else {
            guard let foldedJournal, try contains(foldedJournal, chain: chain) else {
                throw Self.foreign(path, how: "continues another version of the document")
            }
            return JournalState(relation: .folded, endOffset: byteCount)
        }
        return try replay(
            into: storage, after: JournalState(relation: .applied, endOffset: JournalHeader.byteCount, chain: chain))
    }

    /// Reads the frames after `start`, and applies them to `storage`, which an error leaves
    /// unchanged.
    func replay(
        into storage: any OrderedKeyValueStorage, after start: JournalState
    ) throws(StoreError) -> JournalState {
        let write = try storage.beginLongWrite(timeoutSeconds: 0)
        do throws(StoreError) {
            var state = start
            state.tornByteCount = 0
            while let payload = try next(&state) {
                let isRead = try write.perform { (writer) throws(StoreError) in
                    try JournalOperations.apply(payload, to: writer)
                }
                guard isRead else {
                    throw damaged(at: state.endOffset, reason: "the frame that ends there has invalid operations")
                }
                state.frameCount += 1
            }
            try write.commit()
            return state
        } catch {
            write.abort()
            throw error
        }
    }

    private static func foreign(_ path: String, how: String) -> StoreError {
        StoreError(
            .storeReplaced,
            "The journal '\(path)' \(how): the document beside it was edited or replaced while commits were waiting in the journal. Restore the document that the journal belongs to, or move the journal away to discard its commits. Nothing was changed."
        )
    }

    /// Returns whether the header or a frame of the journal has the check `wanted`.
    private func contains(_ wanted: UInt64, chain: UInt64) throws(StoreError) -> Bool {
        var state = JournalState(relation: .folded, endOffset: JournalHeader.byteCount, chain: chain)
        // Frames after the match were never acknowledged, so they need not be read.
        while state.chain != wanted { guard try next(&state) != nil else { return false } }
        return true
    }

    // MARK: Frames

    /// Returns the next payload and moves `state` past its frame, or returns nil at the journal's
    /// end.
    private func next(_ state: inout JournalState) throws(StoreError) -> [UInt8]? {
        let start = state.endOffset
        let left = byteCount - start
        guard left > 0 else { return nil }
        let bytes = try read(at: start, count: JournalFrame.headByteCount)
        guard bytes.count == JournalFrame.headByteCount else {
            state.tornByteCount = left
            return nil
        }
        guard let frame = JournalFrame(bytes) else {
            // A crash can leave whole sectors of zeros at the end. Any other invalid head is
            // damage.
            var isTorn = try headHasZeroPiece(at: start)
            if isTorn { isTorn = try !hasFrame(from: start + 1) }
            guard isTorn else { throw damaged(at: start, reason: "the head of a frame does not match its checksum") }
            state.tornByteCount = left
            return nil
        }
        guard frame.chain == state.chain else {
            throw damaged(at: start, reason: "a frame does not follow the one before it")
        }
        guard frame.payloadByteCount <= left - JournalFrame.headByteCount else {
            state.tornByteCount = left
            return nil
        }
        let payload = try read(at: start + JournalFrame.headByteCount, count: frame.payloadByteCount)
        let end = start + JournalFrame.headByteCount + frame.payloadByteCount
        guard payload.count == frame.payloadByteCount, payload.checksum(0..<payload.count) == frame.payloadChecksum
        else {
            let zeroPieces = JournalFrame.zeroPieces(payload, at: start + JournalFrame.headByteCount)
            guard payload.count < frame.payloadByteCount || (end == byteCount && zeroPieces > frame.zeroPieceCount)
            else { throw damaged(at: start, reason: "a frame does not match its checksum") }
            state.tornByteCount = left
            return nil
        }
        state.endOffset = end
        state.chain = JournalFrame.check(bytes)
        return payload
    }

    private func damaged(at offset: Int, reason: String) -> StoreError {
        StoreError(
            .corrupted,
            "The journal '\(path)' is damaged at byte \(offset): \(reason). Restore it from a copy, or move it away to discard its commits."
        )
    }

    /// Returns whether a sector with a part of the head at `offset` has only zeros, without regard
    /// to the bytes before `offset`.
    private func headHasZeroPiece(at offset: Int) throws(StoreError) -> Bool {
        var start = offset
        while start < min(byteCount, offset + JournalFrame.headByteCount) {
            let end = (start / JournalFrame.sectorByteCount + 1) * JournalFrame.sectorByteCount
            let piece = try read(at: start, count: min(end, byteCount) - start)
            if piece.isZero(0..<piece.count) { return true }
            start = end
        }
        return false
    }

    /// Returns whether a valid head of a frame begins at or after `offset`.
    private func hasFrame(from offset: Int) throws(StoreError) -> Bool {
        var start = offset
        while start < byteCount {
            let bytes = try read(at: start, count: 1 << 16)
            guard bytes.count >= JournalFrame.headByteCount else { return false }
            let last = bytes.count - JournalFrame.headByteCount
            for position in 0...last where bytes.word(at: position + 32) != 0 {
                if JournalFrame(bytes, at: position) != nil { return true }
            }
            start += last + 1
        }
        return false
    }

    private func read(at offset: Int, count: Int) throws(StoreError) -> [UInt8] {
        try file.bytes(at: offset, count: max(0, min(count, byteCount - offset)))
    }
}
