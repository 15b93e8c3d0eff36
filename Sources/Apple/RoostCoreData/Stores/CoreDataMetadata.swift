internal import RoostAppleModels
internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    internal import Foundation

    /// The contents of `Z_METADATA`.
    struct CoreDataMetadata: Sendable {
        let storeUUID: StoreUUID
        /// The metadata that the application set.
        let userMetadata: [String: MetadataValue]
        /// Apple's version hash of each entity.
        let versionHashes: [String: [UInt8]]

        init(_ database: ForeignDatabase) throws(StoreError) {
            let statement = try database.prepare("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
            guard try statement.step(), let text = try statement.string(0), let uuid = StoreUUID(text) else {
                throw StoreError(.corrupted, "'\(database.path)' has no store UUID in Z_METADATA.")
            }
            storeUUID = uuid
            guard !statement.isNull(1) else {
                userMetadata = [:]
                versionHashes = [:]
                return
            }
            let list = try PropertyListValue.read(try statement.bytes(1), file: "the metadata of '\(database.path)'")
            guard let members = list.dictionary else {
                throw StoreError(.corrupted, "The metadata of '\(database.path)' are not a dictionary.")
            }
            userMetadata = members.filter { !$0.key.hasPrefix("NS") && !$0.key.hasPrefix("_NS") }
                .mapValues { MetadataValue($0) }
            versionHashes = (members["NSStoreModelVersionHashes"]?.dictionary ?? [:]).compactMapValues {
                if case .data(let bytes) = $0 { bytes } else { nil }
            }
        }
    }

    extension MetadataValue {
        init(_ value: PropertyListValue) {
            switch value {
            case .string(let text): self = .string(text)
            case .integer(let number): self = .int(number)
            case .real(let number): self = .double(number)
            case .boolean(let flag): self = .bool(flag)
            case .date(let seconds): self = .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .data(let bytes): self = .data(Data(bytes))
            case .array(let values): self = .array(values.map { MetadataValue($0) })
            case .dictionary(let members): self = .dictionary(members.mapValues { MetadataValue($0) })
            }
        }
    }
#endif
