internal import Foundation
internal import RoostCore
internal import RoostGraph
internal import RoostSystem

// The classes of the graph checks, in the form of generated code. Entities without a class are used
// by name.

extension GraphCheck {
    static let types: [any ManagedObjectClass.Type] = [
        Person.self, Artist.self, Album.self, Track.self, Genre.self, Playlist.self, Asset.self, Image.self, Video.self,
        Clip.self, Draft.self, Everything.self,
    ]

    final class Person: ManagedObject, ManagedObjectClass {
        static var entityName: EntityName { "Person" }
        static func propertyName(of path: AnyKeyPath) -> String? {
            [\Person.name: "name", \Person.salary: "salary"][path]
        }
        var name: String? {
            get { optionalText(slot: 0) }
            set { setOptionalText(newValue, slot: 0) }
        }
        var salary: Int64? {
            get { optionalInt64(slot: 1) }
            set { setOptionalInt64(newValue, slot: 1) }
        }
        var nick: String? {
            get { transient(slot: 2) }
            set { setTransient(newValue, slot: 2) }
        }
        var passport: ManagedObject? {
            get { toOne(slot: 3) }
            set { setToOne(newValue, slot: 3) }
        }
        var team: ManagedObject? {
            get { toOne(slot: 4) }
            set { setToOne(newValue, slot: 4) }
        }
        var friends: ToMany<Person> {
            get { toMany(slot: 5) }
            set { setToMany(newValue, slot: 5) }
        }
        var partner: Person? {
            get { toOne(slot: 6) }
            set { setToOne(newValue, slot: 6) }
        }
        var manager: Person? {
            get { toOne(slot: 7) }
            set { setToOne(newValue, slot: 7) }
        }
        var reports: ToMany<Person> {
            get { toMany(slot: 8) }
            set { setToMany(newValue, slot: 8) }
        }
        var favorite: Album? {
            get { toOne(slot: 9) }
            set { setToOne(newValue, slot: 9) }
        }
        var turns: [String] = []
        static var shape: ClassShape {
            ClassShape(
                "Person",
                properties: [
                    .field("name", as: .string), .field("salary", as: .integer64), .transient("nick", as: .string),
                    .field("passport", as: .reference), .field("team", as: .reference), .toMany("friends"),
                    .field("partner", as: .reference), .field("manager", as: .reference), .toMany("reports"),
                    .field("favorite", as: .reference),
                ])
        }
        override func willTurnIntoFault() { turns.append("will") }
        override func didTurnIntoFault() { turns.append("did") }
    }

    final class Artist: ManagedObject, ManagedObjectClass {
        static var entityName: EntityName { "Artist" }
        static func propertyName(of path: AnyKeyPath) -> String? { [\Artist.name: "name"][path] }
        var name: String? {
            get { optionalText(slot: 0) }
            set { setOptionalText(newValue, slot: 0) }
        }
        var upperName: String? { optionalText(slot: 1) }
        var albumCount: Int64? { optionalInt64(slot: 2) }
        var stamp: Date? { optionalDate(slot: 3) }
        var albums: ToMany<Album> {
            get { toMany(slot: 4) }
            set { setToMany(newValue, slot: 4) }
        }
        static var shape: ClassShape {
            ClassShape(
                "Artist",
                properties: [
                    .field("name", as: .string), .field("upperName", as: .string), .field("albumCount", as: .integer64),
                    .field("stamp", as: .date), .toMany("albums"),
                ])
        }
    }

    final class Album: ManagedObject, ManagedObjectClass {
        static var entityName: EntityName { "Album" }
        static func propertyName(of path: AnyKeyPath) -> String? {
            [\Album.title: "title", \Album.year: "year", \Album.plays: "plays"][path]
        }
        var title: String? {
            get { optionalText(slot: 0) }
            set { setOptionalText(newValue, slot: 0) }
        }
        var year: Int16 {
            get { int16(slot: 1) }
            set { setInt16(newValue, slot: 1) }
        }
        var rating: Double? {
            get { optionalDouble(slot: 2) }
            set { setOptionalDouble(newValue, slot: 2) }
        }
        var plays: Int64 {
            get { int64(slot: 3) }
            set { setInt64(newValue, slot: 3) }
        }
        var artist: Artist? {
            get { toOne(slot: 4) }
            set { setToOne(newValue, slot: 4) }
        }
        var tracks: OrderedToMany<Track> {
            get { orderedToMany(slot: 5) }
            set { setOrderedToMany(newValue, slot: 5) }
        }
        static var shape: ClassShape {
            ClassShape(
                "Album",
                properties: [
                    .field("title", as: .string), .field("year", as: .integer16), .field("rating", as: .double),
                    .field("plays", as: .integer64), .field("artist", as: .reference),
                    .toMany("tracks", isOrdered: true),
                ])
        }
    }

    final class Track: ManagedObject, ManagedObjectClass {
        static var entityName: EntityName { "Track" }
        static func propertyName(of path: AnyKeyPath) -> String? { [\Track.title: "title"][path] }
        var title: String? {
            get { optionalText(slot: 0) }
            set { setOptionalText(newValue, slot: 0) }
        }
        var album: Album? {
            get { toOne(slot: 1) }
            set { setToOne(newValue, slot: 1) }
        }
        var genre: Genre? {
            get { toOne(slot: 2) }
            set { setToOne(newValue, slot: 2) }
        }
        var playlists: ToMany<Playlist> {
            get { toMany(slot: 3) }
            set { setToMany(newValue, slot: 3) }
        }
        var tags: ToMany<ManagedObject> {
            get { toMany(slot: 4) }
            set { setToMany(newValue, slot: 4) }
        }
        static var shape: ClassShape {
            ClassShape(
                "Track",
                properties: [
                    .field("title", as: .string), .field("album", as: .reference), .field("genre", as: .reference),
                    .toMany("playlists"), .toMany("tags"),
                ])
        }
    }

    final class Genre: ManagedObject, ManagedObjectClass {
        static var entityName: EntityName { "Genre" }
        static func propertyName(of path: AnyKeyPath) -> String? { [\Genre.name: "name"][path] }
        var name: String? {
            get { optionalText(slot: 0) }
            set { setOptionalText(newValue, slot: 0) }
        }
        var tracks: ToMany<Track> {
            get { toMany(slot: 1) }
            set { setToMany(newValue, slot: 1) }
        }
        static var shape: ClassShape {
            ClassShape("Genre", properties: [.field("name", as: .string), .toMany("tracks")])
        }
    }

    final class Playlist: ManagedObject, ManagedObjectClass {
        static var entityName: EntityName { "Playlist" }
        static func propertyName(of path: AnyKeyPath) -> String? { [\Playlist.name: "name"][path] }
        var name: String? {
            get { optionalText(slot: 0) }
            set { setOptionalText(newValue, slot: 0) }
        }
        var tracks: OrderedToMany<Track> {
            get { orderedToMany(slot: 1) }
            set { setOrderedToMany(newValue, slot: 1) }
        }
        static var shape: ClassShape {
            ClassShape("Playlist", properties: [.field("name", as: .string), .toMany("tracks", isOrdered: true)])
        }
    }

    class Asset: ManagedObject, ManagedObjectClass {
        class var entityName: EntityName { "Asset" }
        class func propertyName(of path: AnyKeyPath) -> String? { [\Asset.name: "name"][path] }
        final var name: String? {
            get { optionalText(slot: 0) }
            set { setOptionalText(newValue, slot: 0) }
        }
        final var size: Int64? {
            get { optionalInt64(slot: 1) }
            set { setOptionalInt64(newValue, slot: 1) }
        }
        class var shape: ClassShape {
            ClassShape("Asset", properties: [.field("name", as: .string), .field("size", as: .integer64)])
        }
    }

    final class Image: Asset {
        override class var entityName: EntityName { "Image" }
        var width: Int32? {
            get { optionalInt32(slot: 2) }
            set { setOptionalInt32(newValue, slot: 2) }
        }
        override class var shape: ClassShape {
            ClassShape(
                "Image",
                properties: [
                    .field("name", as: .string), .field("size", as: .integer64), .field("width", as: .integer32),
                ])
        }
    }

    class Video: Asset {
        override class var entityName: EntityName { "Video" }
        final var seconds: Int32? {
            get { optionalInt32(slot: 2) }
            set { setOptionalInt32(newValue, slot: 2) }
        }
        override class var shape: ClassShape {
            ClassShape(
                "Video",
                properties: [
                    .field("name", as: .string), .field("size", as: .integer64), .field("seconds", as: .integer32),
                ])
        }
    }

    final class Clip: Video {
        override class var entityName: EntityName { "Clip" }
        var source: String? {
            get { optionalText(slot: 3) }
            set { setOptionalText(newValue, slot: 3) }
        }
        override class var shape: ClassShape {
            ClassShape(
                "Clip",
                properties: [
                    .field("name", as: .string), .field("size", as: .integer64), .field("seconds", as: .integer32),
                    .field("source", as: .string),
                ])
        }
    }

    /// A list of lines from several objects and observers, in the order of their calls.
    final class Journal: Sendable {
        private let state = Mutex<[String]>([])

        var lines: [String] { state.withLock { $0 } }

        func append(_ line: String) { state.withLock { $0.append(line) } }
    }

    /// A class that records the calls of its hooks.
    final class Draft: ManagedObject, ManagedObjectClass {
        static var entityName: EntityName { "Draft" }
        static func propertyName(of path: AnyKeyPath) -> String? { [\Draft.title: "title"][path] }
        var title: String? {
            get { optionalText(slot: 0) }
            set { setOptionalText(newValue, slot: 0) }
        }
        var count: Int64 {
            get { int64(slot: 1) }
            set { setInt64(newValue, slot: 1) }
        }
        var stamp: Date? {
            get { optionalDate(slot: 2) }
            set { setOptionalDate(newValue, slot: 2) }
        }
        var cached: String? {
            get { transient(slot: 3) }
            set { setTransient(newValue, slot: 3) }
        }
        var next: Draft? {
            get { toOne(slot: 4) }
            set { setToOne(newValue, slot: 4) }
        }
        var before: Draft? {
            get { toOne(slot: 5) }
            set { setToOne(newValue, slot: 5) }
        }
        static var shape: ClassShape {
            ClassShape(
                "Draft",
                properties: [
                    .field("title", as: .string), .field("count", as: .integer64), .field("stamp", as: .date),
                    .transient("cached", as: .string), .field("next", as: .reference), .field("before", as: .reference),
                ])
        }

        var calls: [String] = []
        /// The count that `awakeFromInsert` saw.
        var countAtInsert: Int64?
        /// The journal for the hooks of a save.
        var journal: Journal?
        var whenSaving: ((Draft) -> Void)?
        var trimsTitle = false
        /// The message with which every title fails validation, or nil.
        var refusal: String?

        private func note(_ call: String) {
            calls.append(call)
            journal?.append("\(call) \(title ?? "-")")
        }

        override func awakeFromInsert() {
            countAtInsert = count
            calls.append("awakeFromInsert")
        }
        override func awakeFromFetch() {
            guard title == "awake" else { return }
            calls.append("awakeFromFetch")
            cached = "from fetch"
            count += 1
        }
        override func prepareForDeletion() { calls.append("prepareForDeletion \(next != nil)") }
        override func willSave() {
            note("willSave")
            whenSaving?(self)
        }
        override func didSave() { note("didSave") }
        override func willTurnIntoFault() { calls.append("willTurnIntoFault") }
        override func didTurnIntoFault() { calls.append("didTurnIntoFault") }
        override class var validatedProperties: [String] { ["title"] }
        override func validate(_ value: inout Value, for property: String) throws(ValidationFailure) {
            if let refusal { throw validationFailure(refusal, for: property) }
            if trimsTitle, case .string(let text) = value {
                value = .string(text.trimmingCharacters(in: .whitespaces))
            }
        }
        override func validateForInsert() -> [ValidationFailure] {
            note("validateForInsert")
            return super.validateForInsert()
        }
        override func validateForUpdate() -> [ValidationFailure] {
            note("validateForUpdate")
            return super.validateForUpdate()
        }
        override func validateForDelete() -> [ValidationFailure] {
            note("validateForDelete")
            return super.validateForDelete()
        }
    }

    /// A value of a transformable attribute.
    struct Coded: Codable, Sendable, Equatable {
        var name: String
        var parts: [Int]
    }

    final class Everything: ManagedObject, ManagedObjectClass {
        static var entityName: EntityName { "Everything" }
        static func propertyName(of path: AnyKeyPath) -> String? { nil }
        var i16: Int16? {
            get { optionalInt16(slot: 0) }
            set { setOptionalInt16(newValue, slot: 0) }
        }
        var i32: Int32? {
            get { optionalInt32(slot: 1) }
            set { setOptionalInt32(newValue, slot: 1) }
        }
        var i64: Int64? {
            get { optionalInt64(slot: 2) }
            set { setOptionalInt64(newValue, slot: 2) }
        }
        var dec: Decimal? {
            get { optionalDecimal(slot: 3) }
            set { setOptionalDecimal(newValue, slot: 3) }
        }
        var dbl: Double? {
            get { optionalDouble(slot: 4) }
            set { setOptionalDouble(newValue, slot: 4) }
        }
        var flt: Float? {
            get { optionalFloat(slot: 5) }
            set { setOptionalFloat(newValue, slot: 5) }
        }
        var str: String? {
            get { optionalText(slot: 6) }
            set { setOptionalText(newValue, slot: 6) }
        }
        var flag: Bool? {
            get { optionalBool(slot: 7) }
            set { setOptionalBool(newValue, slot: 7) }
        }
        var day: Date? {
            get { optionalDate(slot: 8) }
            set { setOptionalDate(newValue, slot: 8) }
        }
        var blob: Data? {
            get { optionalData(slot: 9) }
            set { setOptionalData(newValue, slot: 9) }
        }
        var ident: UUID? {
            get { optionalUUID(slot: 10) }
            set { setOptionalUUID(newValue, slot: 10) }
        }
        var link: String? {
            get { optionalText(slot: 11) }
            set { setOptionalText(newValue, slot: 11) }
        }
        var coded: Coded? {
            get { coded(slot: 12) }
            set { setCoded(newValue, slot: 12) }
        }
        var oid: ObjectID? {
            get { reference(slot: 13) }
            set { setReference(newValue, slot: 13) }
        }
        var place: [String: Value]? {
            get { composite(slot: 14) }
            set { setComposite(newValue, slot: 14) }
        }
        static var shape: ClassShape {
            ClassShape(
                "Everything",
                properties: [
                    .field("i16", as: .integer16), .field("i32", as: .integer32), .field("i64", as: .integer64),
                    .field("dec", as: .decimal), .field("dbl", as: .double), .field("flt", as: .float),
                    .field("str", as: .string),
                    .field("flag", as: .boolean), .field("day", as: .date), .field("blob", as: .data),
                    .field("ident", as: .uuid),
                    .field("link", as: .uri), .field("coded", as: .transformable), .field("oid", as: .objectID),
                    .field("place", as: .composite),
                ])
        }
    }
}
