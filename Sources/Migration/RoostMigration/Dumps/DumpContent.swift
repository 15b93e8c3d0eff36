internal import RoostCore
internal import RoostText

final class DumpContent: ContentSource {
    let model: ManagedObjectModel
    private let header: DumpHeader
    private let allowsDangling: Bool
    private let reader: Mutex<DumpReader>

    /// Reads the first line of a dump.
    init(
        name: String, allowsDangling: Bool, cancellation: ConversionCancellation?,
        source: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int
    ) throws(StoreError) {
        let reader = try DumpReader(name: name, cancellation: cancellation, source: source)
        header = reader.header
        model = reader.header.model
        self.allowsDangling = allowsDangling
        self.reader = Mutex(reader)
    }

    func identity() throws(StoreError) -> (storeUUID: StoreUUID, userMetadata: [String: MetadataValue]) {
        (header.storeUUID, header.userMetadata)
    }

    func read(into channel: BatchChannel) throws(StoreError) -> CopiedContent? {
        guard channel.send(.begin(lastKeys: header.lastKeys, objectCount: nil, linkCount: nil)) else { return nil }
        let copied: CopiedContent? = try reader.withLock { (reader) throws(StoreError) in
            guard try reader.read(into: channel) else { return nil }
            return CopiedContent(tally: reader.sent, dangling: reader.dangling.counts, warnings: reader.warnings)
        }
        guard let copied else { return nil }
        guard copied.dangling.isEmpty || allowsDangling else { throw Self.dangling(copied.dangling) }
        return channel.send(.end) ? copied : nil
    }

    func notices() throws(StoreError) -> [String] { [] }

    private static func dangling(_ counts: [RelationshipCount]) -> StoreError {
        let list = counts.map { "\($0.count) by '\($0.relationship)'" }.joined(separator: ", ")
        return StoreError(
            .objectNotFound,
            "The partial dump refers to objects outside it: \(list). Dump the entities of these objects too, or drop these references with --allow-dangling."
        )
    }
}
