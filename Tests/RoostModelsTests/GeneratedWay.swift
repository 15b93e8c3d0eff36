#if Macros
    import Foundation
    import RoostModels

    /// The generated classes of `Fixtures/Library.roostmodel.json`.
    enum GeneratedWay: ModelWay {
        static let types = LibraryModel.types
        static var model: ManagedObjectModel { get throws { try LibraryModel.model } }
        static let paths: [any AnyKeyPath & Sendable] = [\Thing.small, \Thing.one, \Thing.ordered, \Thing.cover]
        static let bossPaths: [any AnyKeyPath & Sendable] = [
            \Boss.name, \Boss.friends, \Boss.age, \Boss.deputy, \Boss.isKind, \Boss.hasChanges,
        ]
        static let employeePaths: [any AnyKeyPath & Sendable] = [\Employee.born, \Employee.age, \Employee.objectID]
        static func wealthy() throws -> Fetch<Thing> {
            try Fetch(
                #Predicate { $0.large > 100 && $0.one?.text == "first" && $0.maybeSmall == nil },
                sortedBy: [SortKey(\.medium, order: .reverse)])
        }
        static func kindBosses() throws -> Fetch<Boss> {
            try Fetch(#Predicate { $0.isKind == true && $0.age > 30 && $0.name != "x" }, sortedBy: [SortKey(\.name)])
        }
    }

    extension Thing: ThingClass {}
    extension Boss: BossClass {}
#endif
