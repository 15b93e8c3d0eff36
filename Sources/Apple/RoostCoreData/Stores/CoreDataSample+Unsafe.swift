#if SQLite
    internal import CSQLite
    internal import Foundation
    package import RoostCore
    internal import RoostSystem

    /// A writer of small SQLite files in the layout of Apple's Core Data, for tests.
    ///
    /// In a supported model, property names are unique in each hierarchy, many-to-many
    /// relationships have an inverse, and no attribute is a composite. The file has no code or data
    /// from Apple.
    package struct CoreDataSample {
        private let model: ManagedObjectModel
        private let userMetadata: [String: MetadataValue]
        /// The objects by root entity number, in key order.
        package var objects: [Int: [Record]] = [:]
        /// The links by the number of the owning relationship.
        package var links: [Int: [Link]] = [:]

        package init(model: ManagedObjectModel, userMetadata: [String: MetadataValue]) {
            (self.model, self.userMetadata) = (model, userMetadata)
        }

        package func write(to path: String) throws { try Self.write(sql(), to: path) }

        private static func write(_ sql: String, to path: String) throws {
            var handle: OpaquePointer?
            var code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
            if code == SQLITE_OK { code = sqlite3_exec(handle, sql, nil, nil, nil) }
            let message = code == SQLITE_OK ? "" : String(cString: sqlite3_errmsg(handle))
            // SQLite requires closing a connection that failed to open.
            let closing = sqlite3_close(handle)
            guard code == SQLITE_OK, closing == SQLITE_OK else {
                throw StoreError(.ioFailure, "The sample '\(path)' cannot be written (\(code), \(closing)): \(message)")
            }
        }

        // MARK: The layout

        private func sql() throws -> String {
            let metadata = try PropertyListSerialization.data(
                fromPropertyList: userMetadata.mapValues(Self.propertyList), format: .binary, options: 0)
            var statements = [
                "BEGIN",
                "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
                "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
                "INSERT INTO Z_METADATA VALUES (1, '\(UUID().uuidString)', \(Self.literal([UInt8](metadata))))",
            ]
            for entity in model.entities {
                let superentity = entity.superentity.map { $0 + 1 } ?? 0
                let last = entity.superentity == nil ? objects[entity.number]?.last?.id.key ?? 0 : 0
                statements.append(
                    "INSERT INTO Z_PRIMARYKEY VALUES (\(entity.number + 1), '\(entity.name)', \(superentity), \(last))")
            }
            for root in model.roots {
                let columns = Self.columns(ofRoot: root, model: model)
                let row = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
                let names = (row + columns.map { "\($0.name) \($0.type)" }).joined(separator: ", ")
                let table = "Z\(model.entities[root].name.text.uppercased())"
                statements.append("CREATE TABLE \(table) (\(names))")
                for object in objects[root] ?? [] {
                    let entity = try model.requireEntity(object.id.entity).number + 1
                    let values = try columns.map { column in
                        guard let property = column.property(of: entity - 1) else { return "NULL" }
                        return try Self.literal(try object.value(property))
                    }
                    let row = (["\(object.id.key)", "\(entity)", "\(object.version)"] + values).joined(separator: ", ")
                    statements.append("INSERT INTO \(table) VALUES (\(row))")
                }
            }
            for relationship in model.linkRelationships {
                statements += Self.joinTable(relationship, model: model, links: links[relationship.number] ?? [])
            }
            return (statements + ["COMMIT"]).joined(separator: ";\n")
        }

        /// A column of a root entity's table.
        private struct Column {
            let name: String
            let type: String
            let property: String
            let entities: [Int]

            func property(of entity: Int) -> String? { entities.contains(entity) ? property : nil }
        }

        private static func columns(ofRoot root: Int, model: ManagedObjectModel) -> [Column] {
            var columns: [Column] = []
            for entity in model.entities[root].selfAndSubentities.map({ model.entities[$0] }) {
                for attribute in entity.declaration.attributes {
                    columns.append(
                        Column(
                            name: "Z\(attribute.name.uppercased())", type: type(attribute.type),
                            property: attribute.name,
                            entities: entity.selfAndSubentities))
                }
                for relationship in model.relationships
                where relationship.source == entity.number && relationship.storage == .field {
                    let name = relationship.name.name
                    columns.append(
                        Column(
                            name: "Z\(name.uppercased())", type: "INTEGER", property: name,
                            entities: entity.selfAndSubentities))
                    guard relationship.inverseIsOrdered else { continue }
                    columns.append(
                        Column(
                            name: "Z_FOK_\(name.uppercased())", type: "INTEGER",
                            property: RecordLayout.orderFieldName(of: name), entities: entity.selfAndSubentities))
                }
            }
            return columns
        }

        /// Returns statements that create and fill a join table.
        private static func joinTable(
            _ relationship: ManagedObjectModel.Relationship, model: ManagedObjectModel, links: [Link]
        ) -> [String] {
            guard let inverse = relationship.inverse.map({ model.relationships[$0] }) else { return [] }
            let (forward, backward) = (relationship.name.name.uppercased(), inverse.name.name.uppercased())
            let (owner, other) = (relationship.source + 1, relationship.destination + 1)
            let table = "Z_\(owner)\(forward)"
            if relationship.isReflexive {
                return [
                    "CREATE TABLE \(table) (\(table) INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (\(table), REFLEXIVE))"
                ]
                    + links.map { "INSERT INTO \(table) VALUES (\($0.source), \($0.target))" }
            }
            let (source, target) = ("\(owner)\(backward)", "\(other)\(forward)")
            return [
                "CREATE TABLE \(table) (Z_\(source) INTEGER, Z_\(target) INTEGER, Z_FOK_\(source) INTEGER, Z_FOK_\(target) INTEGER, PRIMARY KEY (Z_\(source), Z_\(target)))"
            ]
                + links.map {
                    "INSERT INTO \(table) VALUES (\($0.source), \($0.target), \($0.inverseOrder), \($0.order))"
                }
        }

        private static func type(_ type: AttributeType) -> String {
            switch type {
            case .integer16, .integer32, .integer64, .boolean: "INTEGER"
            case .double, .float: "FLOAT"
            case .decimal: "DECIMAL"
            case .date: "TIMESTAMP"
            case .string, .uri: "VARCHAR"
            default: "BLOB"
            }
        }

        // MARK: Values

        private static func literal(_ value: Value) throws -> String {
            switch value {
            case .null: "NULL"
            case .int(let number): "\(number)"
            case .bool(let flag): flag ? "1" : "0"
            case .double(let number): "\(number)"
            case .date(let date): "\(date.timeIntervalSinceReferenceDate)"
            case .decimal(let number): "\(number)"
            case .objectID(let id): "\(id.key)"
            // An SQL text literal cannot contain U+0000.
            case .string(let text), .uri(let text): "CAST(\(literal(Array(text.utf8))) AS TEXT)"
            case .data(let data): literal([UInt8](data))
            case .uuid(let uuid): literal(withUnsafeBytes(of: uuid.uuid) { Array($0) })
            case .composite:
                throw StoreError(.internalInconsistency, "The sample has a composite, for which no column is made.")
            }
        }

        private static func literal(_ bytes: [UInt8]) -> String {
            "x'" + Hexadecimal.text(bytes) + "'"
        }

        private static func propertyList(_ value: MetadataValue) -> Any {
            switch value {
            case .string(let text): text
            case .int(let number): number
            case .double(let number): number
            case .bool(let flag): flag
            case .date(let date): date
            case .data(let data): data
            case .array(let values): values.map(propertyList)
            case .dictionary(let members): members.mapValues(propertyList)
            }
        }
    }
#endif
