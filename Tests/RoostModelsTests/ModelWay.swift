#if Macros
    import Foundation
    import RoostModels
    import Testing

    /// A way to get the classes of `Fixtures/Library.roostmodel.json`.
    protocol ModelWay: SendableMetatype {
        associatedtype Thing: ThingClass where Thing.Owner == Boss.Colleague
        associatedtype Boss: BossClass
        static var types: [any ManagedObjectClass.Type] { get }
        static var model: ManagedObjectModel { get throws }
        static var paths: [any AnyKeyPath & Sendable] { get }
        static var bossPaths: [any AnyKeyPath & Sendable] { get }
        static var employeePaths: [any AnyKeyPath & Sendable] { get }
        static func wealthy() throws -> Fetch<Thing>
        static func kindBosses() throws -> Fetch<Boss>
    }

    /// The members of a class with attributes of all types.
    protocol ThingClass: ManagedObjectClass {
        associatedtype Owner: ManagedObjectClass
        var small: Int16 { get set }
        var medium: Int32 { get set }
        var large: Int64 { get set }
        var precise: Double { get set }
        var rough: Float { get set }
        var flag: Bool { get set }
        var moment: Date { get set }
        var text: String { get set }
        var bytes: Data { get set }
        var ident: UUID { get set }
        var amount: Decimal { get set }
        var link: String { get set }
        var maybeSmall: Int16? { get set }
        var maybeMedium: Int32? { get set }
        var maybeLarge: Int64? { get set }
        var maybePrecise: Double? { get set }
        var maybeRough: Float? { get set }
        var maybeFlag: Bool? { get set }
        var maybeMoment: Date? { get set }
        var code: String? { get set }
        var maybeBytes: Data? { get set }
        var maybeIdent: UUID? { get set }
        var maybeAmount: Decimal? { get set }
        var maybeLink: String? { get set }
        var cover: Cover? { get set }
        var packed: Data? { get set }
        var place: [String: Value]? { get set }
        var reference: ObjectID? { get set }
        var hidden: String? { get set }
        var otherCount: Int64? { get }
        var one: Self? { get set }
        var others: ToMany<Self> { get set }
        var ordered: OrderedToMany<Self> { get set }
        var owner: Owner? { get set }
    }

    /// The own and inherited members of a class at the third level of a hierarchy.
    protocol BossClass: ManagedObjectClass {
        associatedtype Base: ManagedObjectClass
        associatedtype Colleague: ManagedObjectClass
        var name: String { get set }
        var born: Date? { get set }
        var friends: ToMany<Base> { get set }
        var age: Int32 { get set }
        var deputy: Colleague? { get set }
        var isKind: Bool? { get set }
    }

    struct Way: CustomTestStringConvertible, Sendable {
        let type: any ModelWay.Type
        var testDescription: String { "\(type)" }

        static let all = [Way(type: MacroWay.self), Way(type: GeneratedWay.self)]
    }

    /// Stores of several types in a new directory.
    enum Backends {
        static func run(
            isInFile: Bool = false, sourceLocation: SourceLocation = #_sourceLocation,
            _ body: (StoreLocation) throws -> Void
        ) throws {
            let directory = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            var locations: [StoreLocation] = [.json(directory.appending(path: "m.json").path)]
            if !isInFile { locations.append(.memory) }
            #if SQLite
                locations.append(.sqlite(directory.appending(path: "m.sqlite").path))
            #endif
            #if LMDB
                locations.append(.lmdb(directory.appending(path: "m.lmdb").path))
            #endif
            for store in locations {
                do { try body(store) } catch { Issue.record("\(store): \(error)", sourceLocation: sourceLocation) }
            }
        }
    }
#endif
