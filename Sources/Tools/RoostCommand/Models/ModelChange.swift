internal import Roost
internal import RoostCore
internal import RoostMigration

/// The changes from one version of a model to another, and the required migration.
struct ModelChange: Encodable {
    struct Difference: Encodable {
        var kind: String
        var entity: String?
        var property: String?
        var formerName: String?
        var subject: String
        var details: [String]
        var changesVersionHash: Bool
    }

    struct Mapping: Encodable {
        var name: String
        var type: String
        var source: String?
        var destination: String?
    }

    struct Problem: Encodable {
        var entity: String?
        var property: String?
        var message: String
    }

    struct Remark: Encodable {
        var kind: String
        var entity: String
        var property: String?
        var message: String
    }

    var equal: Bool
    /// Whether stores of one model can be opened with the other.
    var compatible: Bool
    /// Whether a mapping can be inferred, or nil if no migration is needed.
    var inferable: Bool?
    var differences: [Difference]
    /// The mappings of an inferred migration.
    var mappings: [Mapping]
    /// The reasons why no mapping can be inferred.
    var problems: [Problem]
    /// The losses, requirements and default values of an inferred migration.
    var remarks: [Remark]

    private let lines: (differences: [String], migration: [String])

    enum CodingKeys: CodingKey { case equal, compatible, inferable, differences, mappings, problems, remarks }

    /// Compares two models; `onlyHashed` ignores differences that do not change version hashes.
    init(
        from old: ManagedObjectModel, to new: ManagedObjectModel, onlyHashed: Bool,
        options: MappingModel.InferenceOptions
    ) {
        let all = new.difference(from: old)
        let told = onlyHashed ? all.filter(\.changesVersionHash) : all
        equal = told.isEmpty
        compatible = new.stores(sameAs: old)
        differences = told.map {
            Difference(
                kind: $0.kind.rawValue, entity: $0.entity, property: $0.property, formerName: $0.formerName,
                subject: $0.subject, details: $0.details, changesVersionHash: $0.changesVersionHash)
        }
        (mappings, problems, remarks) = ([], [], [])
        var migration: [String] = []
        if !compatible {
            let reasons = MappingModel.inferenceProblems(from: old, to: new, options: options)
            let mapping = reasons.isEmpty ? try? MappingModel.inferred(from: old, to: new, options: options) : nil
            inferable = mapping != nil
            if let mapping {
                let found = mapping.remarks(from: old, to: new)
                mappings = mapping.entityMappings.map {
                    Mapping(
                        name: $0.name, type: $0.type.rawValue, source: $0.sourceEntity?.text,
                        destination: $0.destinationEntity?.text)
                }
                remarks = found.map {
                    Remark(kind: $0.kind.rawValue, entity: $0.entity, property: $0.property, message: $0.message)
                }
                migration = ["A migration is needed, and can be inferred:"]
                migration += Self.lines(of: mapping).map { "  \($0)" } + found.map { "  \($0)" }
            } else {
                problems = reasons.map { Problem(entity: $0.entity, property: $0.property, message: $0.message) }
                migration = ["A migration is needed, and cannot be inferred; it needs a mapping model:"]
                migration += reasons.map { "  \($0)" }
            }
        } else if !told.isEmpty {
            migration = ["No migration is needed."]
        }
        lines = (told.map(\.description), migration)
    }

    /// Returns a line for each entity that changes, and a line with the number of copied entities.
    private static func lines(of mapping: MappingModel) -> [String] {
        var copied = 0
        var lines: [String] = []
        for mapping in mapping.entityMappings {
            let (source, destination) = (mapping.sourceEntity?.text ?? "", mapping.destinationEntity?.text ?? "")
            switch mapping.type {
            case .copy: copied += 1
            case .add: lines.append("\(destination): added")
            case .remove: lines.append("\(source): removed")
            case .custom, .transform:
                lines.append(
                    source == destination ? "\(source): transformed" : "\(source): transformed into \(destination)")
            }
        }
        switch copied {
        case 0: return lines
        case 1: return lines + ["1 entity is copied as it is"]
        default: return lines + ["\(copied) entities are copied as they are"]
        }
    }

    var text: [String] { lines.differences + lines.migration }

    /// A short summary: `3 differences, a migration can be inferred`.
    var summary: String {
        if differences.isEmpty { return "no difference" }
        let count = "\(differences.count) \(differences.count == 1 ? "difference" : "differences")"
        switch inferable {
        case nil: return "\(count), no migration needed"
        case true?: return "\(count), a migration can be inferred"
        case false?: return "\(count), a migration needs a mapping model"
        }
    }
}

extension ManagedObjectModel {
    /// Returns whether stores of one model can be opened with the other.
    fileprivate func stores(sameAs other: ManagedObjectModel) -> Bool {
        entities.map(\.name) == other.entities.map(\.name)
            && entities.map(\.versionHash) == other.entities.map(\.versionHash)
    }
}
