internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostImport
internal import RoostQuery
internal import RoostStores
internal import RoostSystem

extension Subcommand {
    static let insert = Subcommand(
        name: "insert", summary: "Insert an object of an entity.", usage: "STORE ENTITY [NAME=VALUE ...]",
        argumentCount: 2...10_000,
        discussion: """
            Inserts one object of ENTITY and prints its ID. A property without a value gets the model's default.

            VALUE has no quotes of its own: text and URIs as they are, numbers as 12, -0.5 or 1e6, booleans as true or false, dates as
            2024-05-01 or 2024-05-01T12:30:00Z (default zone: UTC), data as base64. A to-one relationship takes the key of an
            object, or Album/5 if the entity has subentities; label.city is an element of a composite. An empty VALUE is an empty
            text, and is refused for other types.

            The object of a relationship must exist, mandatory properties need values, and unique values must be free.
            With --json prints one object: id, entity, key, generation.
            """,
        options: [.json, .quiet, .verbose] + StoreArguments.openingOptions,
        examples: [
            "roost insert music.sqlite Genre name=\"Slow Blues\"",
            "roost insert music.sqlite Album title=Blue released=1971-06-22 artist=Artist/7 --json",
        ],
        run: runInsert)

    private struct Inserted: Encodable {
        var id: String
        var entity: String
        var key: Int64
        var generation: Generation
    }

    @Sendable private static func runInsert(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        var isCommitted = false
        func closingFailed(_ error: StoreError) -> Bool {
            guard isCommitted else { return false }
            console.printError(
                "warning: the object is inserted and stays, but the store was not closed: \(error.message)")
            return true
        }
        return try StoreArguments.withStore(
            arguments.positions[0], arguments: arguments, forWriting: true, closingFailed: closingFailed
        ) { store in
            let entity = try StoreFetch.entity(arguments.positions[1], model: store.model)
            let row = try values(Array(arguments.positions.dropFirst(2)), of: entity, in: store.model)
            let target = try Store(store, registry: .standard)
            try Interruption.shared.beginCommit()
            let result = try UsageError.requesting { () throws(StoreError) in
                try target.insert(entity.name, rows: [row], result: .objectIDs)
            }
            isCommitted = true
            guard let id = result.objectIDs?.first else {
                throw StoreError(.internalInconsistency, "The store returned no ID for the inserted object.")
            }
            if arguments.has("json") {
                try console.printJSON(
                    Inserted(
                        id: id.description, entity: id.entity.text, key: id.key, generation: result.generation))
            } else if !arguments.has("quiet") {
                try console.print(id.description)
            }
            return .success
        }
    }

    private static func values(
        _ assignments: [String], of entity: ManagedObjectModel.Entity, in model: ManagedObjectModel
    ) throws -> [String: Value] {
        let properties = BatchProperties(entity, in: model)
        var values: [String: Value] = [:]
        for assignment in assignments {
            guard let equals = assignment.firstIndex(of: "="), equals > assignment.startIndex else {
                throw UsageError("'\(assignment)' does not set a property; write NAME=VALUE, as in title=Blue")
            }
            let name = String(assignment[..<equals])
            let text = String(assignment[assignment.index(after: equals)...])
            let property = try UsageError.reading { () throws(StoreError) in try properties.property(name) }
            guard values[name] == nil else { throw UsageError("'\(name)' is given twice") }
            values[name] = try value(text, of: property, name: name, in: model)
        }
        return values
    }

    private static func value(
        _ text: String, of property: BatchProperties.Property, name: String, in model: ManagedObjectModel
    ) throws -> Value {
        let field: RecordLayout.Field
        var expectation: String?
        switch property {
        case .composite:
            throw UsageError("'\(name)' is a composite; give its elements, as in \(name).city=Rome")
        case .toOne(let found, let relationship):
            field = found
            expectation = "the key of an object, as in \(model.entities[relationship.destination].name)/5"
        case .field(let found): field = found
        }
        let value = Array(text.utf8).withUnsafeBytes { CellFormat().value($0, for: field, in: model) }
        guard let value else {
            throw UsageError(
                "'\(name)' needs \(expectation ?? CellFormat.expectation(of: field.kind)), not '\(text)'")
        }
        return value
    }
}
