internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// The size limit of a document, used by plans to detect documents that would exceed it.
struct DocumentLimit {
    private let byteCount: Int
    private let location: StoreLocation

    /// Creates a destination's limit, or returns nil if it has none or a source of this size cannot
    /// reach it.
    init?(
        _ type: any PersistentStoreType, location: StoreLocation, options: [String: String], sourceByteCount: Int
    ) throws(StoreError) {
        guard let type = type as? any DocumentStoreType else { return nil }
        byteCount = try type.maximumDocumentByteCount(options)
        // Text is larger than records, but less than sixteen times as large.
        guard sourceByteCount > byteCount / 16 else { return nil }
        self.location = location
    }

    func require(_ byteCount: Int) throws(StoreError) {
        guard byteCount <= self.byteCount else {
            throw StoreError(
                .limitExceeded,
                "The document of '\(location)' would have more than \(self.byteCount) bytes; raise the option 'maximumDocumentBytes', or choose another type of store."
            )
        }
    }

    /// Returns the error for a document that would become too large, or for a damaged source.
    ///
    /// Stops reading at the limit, and writes nothing. The bytes that only the store type adds are
    /// not counted, so the limit never refuses a document that fits.
    func refusals(of content: any ContentSource) throws(StoreError) -> [StoreError] {
        do throws(StoreError) {
            try content.readInBackground { (channel) throws(StoreError) in try count(content, channel: channel) }
            return []
        } catch {
            guard error.code == .limitExceeded || error.code == .corrupted else { throw error }
            return [error]
        }
    }

    private func count(_ content: any ContentSource, channel: BatchChannel) throws(StoreError) {
        var byteCount = content.model.document().count
        byteCount += try MetadataDocument.encode(content.identity().userMetadata).count
        let writer = RecordTextWriter(model: content.model)
        var text = TextBuffer()
        while true {
            try require(byteCount)
            text.removeAll()
            switch channel.receive() {
            case nil, .end: return
            case .begin: continue
            case .records(let batch):
                try batch.forEachRecord { (record) throws(StoreError) in try writer.append(record, to: &text) }
                byteCount += batch.count * Self.separatorByteCount
                channel.recycle(batch)
            case .links(let batch):
                for link in batch.links { LinkText.append(link, to: &text) }
                byteCount += batch.links.count * Self.separatorByteCount
                channel.recycle(batch)
            }
            byteCount += text.count
        }
    }

    /// The size of a comma and a line break, in bytes.
    private static let separatorByteCount = 2
}
