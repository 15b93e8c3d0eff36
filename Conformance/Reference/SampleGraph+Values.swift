internal import Foundation
package import RoostCore

extension SampleGraph {
    static func makeModel(hasConstraints: Bool = true) throws(StoreError) -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: entities.map { hasConstraints ? $0 : ConformanceModel.withoutConstraints($0) },
            versionIdentifiers: ["sample 1"])
    }

    private static let entities: [EntityDescription] = [
        EntityDescription(
            "Party", attributes: [.init("name", type: .string), .init("joined", type: .date)]
        ).with {
            $0.isAbstract = true
            $0.fetchIndexes = [FetchIndexDescription("by_name", on: "name")]
        },
        EntityDescription(
            "Artist", superentity: "Party",
            attributes: [.init("biography", type: .string), .init("homepage", type: .uri)],
            relationships: [.toMany("albums", to: "Album", inverse: "artist", deleteRule: .cascade)]),
        EntityDescription(
            "Listener", superentity: "Party",
            attributes: [
                .init("email", type: .string),
                .init(
                    "address", type: .composite,
                    elements: [
                        .init("street", type: .string), .init("city", type: .string),
                        .init(
                            "position", type: .composite,
                            elements: [.init("north", type: .double), .init("east", type: .double)]),
                    ]),
            ],
            relationships: [
                .toMany("friends", to: "Listener", inverse: "friends"),
                .toMany("playlists", to: "Playlist", inverse: "owner"),
            ],
            uniquenessConstraints: [["email"]]),
        EntityDescription(
            "Album",
            attributes: [
                .init("title", type: .string), .init("released", type: .date), .init("price", type: .decimal),
                .init("cover", type: .binaryData), .init("catalogue", type: .uuid),
            ],
            relationships: [
                .toOne("artist", to: "Artist", inverse: "albums"),
                .toMany("tracks", to: "Track", inverse: "album", isOrdered: true),
            ]
        ).with { $0.fetchIndexes = [FetchIndexDescription("by_title", on: "title")] },
        EntityDescription(
            "Track",
            attributes: [
                .init("title", type: .string), .init("seconds", type: .double), .init("plays", type: .integer64),
                .init("rating", type: .integer16),
                .init("year", type: .integer32), .init("gain", type: .float), .init("explicit", type: .boolean),
            ],
            relationships: [
                .toOne("album", to: "Album", inverse: "tracks"), .toMany("genres", to: "Genre", inverse: "tracks"),
                .toMany("playlists", to: "Playlist", inverse: "tracks"),
            ]
        ).with { $0.fetchIndexes = [FetchIndexDescription("by_year", on: "year", "title")] },
        EntityDescription(
            "Genre", attributes: [.init("name", type: .string)],
            relationships: [.toMany("tracks", to: "Track", inverse: "genres")],
            uniquenessConstraints: [["name"]]),
        EntityDescription(
            "Playlist", attributes: [.init("title", type: .string)],
            relationships: [
                .toMany("tracks", to: "Track", inverse: "playlists", isOrdered: true),
                .toOne("owner", to: "Listener", inverse: "playlists"),
            ]),
        EntityDescription(
            "Specimen", attributes: ConformanceModel.everyAttribute,
            relationships: [.toOne("relative", to: "Party"), .toMany("picks", to: "Track")]),
    ]

    /// Returns random or extreme values for the stored attributes of an entity.
    ///
    /// On average, one of `nullOneIn` values is null, and is left out.
    package static func randomValues(
        for entity: ManagedObjectModel.Entity, using random: inout SeededGenerator, nullOneIn: Int?
    ) -> [String: Value] {
        var values: [String: Value] = [:]
        for attribute in entity.attributes where attribute.isStored {
            if let nullOneIn, random.oneIn(nullOneIn) { continue }
            values[attribute.name] = randomValue(of: attribute, entity: entity, random: &random, nullOneIn: nullOneIn)
        }
        return values
    }

    private static func randomValue(
        of attribute: AttributeDescription, entity: ManagedObjectModel.Entity, random: inout SeededGenerator,
        nullOneIn: Int?
    ) -> Value {
        switch attribute.type {
        case .undefined: return .null
        case .integer16:
            return .int(
                Int64(random.oneIn(3) ? random.pick([.min, -1, 0, .max]) : Int16(truncatingIfNeeded: random.next())))
        case .integer32:
            return .int(
                Int64(random.oneIn(3) ? random.pick([.min, -1, 0, .max]) : Int32(truncatingIfNeeded: random.next())))
        case .integer64:
            return .int(random.oneIn(3) ? random.pick([.min, -1, 0, .max]) : Int64(truncatingIfNeeded: random.next()))
        case .boolean: return .bool(random.oneIn(2))
        case .double: return .double(randomDouble(&random))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: randomDouble(&random)))
        case .float:
            return .double(
                Double(
                    random.pick([
                        0, -0.0, 1.5, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
                        Float(random.below(1000)) / 8,
                    ])))
        case .decimal:
            let mantissa = (UInt128(random.next()) << 64 | UInt128(random.next())) % DecimalNumber.mantissaLimit
            let number = DecimalNumber(
                isNegative: random.oneIn(2), mantissa: random.oneIn(2) ? mantissa : mantissa % 100_000,
                exponent: random.below(130) - 90)
            return .decimal((number ?? .zero).decimal)
        case .string: return .string(words(random.below(6), random: &random))
        case .uri: return .uri("x:" + words(2, random: &random))
        case .binaryData, .transformable: return .data(bytes(random.below(300), random: &random))
        case .uuid: return .uuid(uuid(&random))
        case .objectID: return .objectID(ObjectID(entity.name, key: Int64(random.next() >> 1) | 1))
        case .composite:
            var elements: [String: Value] = [:]
            for element in attribute.elements {
                if let nullOneIn, random.oneIn(nullOneIn) { continue }
                elements[element.name] = randomValue(of: element, entity: entity, random: &random, nullOneIn: nullOneIn)
            }
            return .composite(elements)
        }
    }

    /// Returns random bits in half of the calls, otherwise a special or small number.
    ///
    /// Random bits can be denormals and NaNs with payloads.
    private static func randomDouble(_ random: inout SeededGenerator) -> Double {
        random.oneIn(2)
            ? Double(bitPattern: random.next())
            : random.pick([0, -0.0, 1, .infinity, -.infinity, .leastNonzeroMagnitude, Double(random.below(1000)) / 8])
    }

    static func words(_ count: Int, random: inout SeededGenerator) -> String {
        (0..<count).map { _ in random.pick(vocabulary) }.joined(separator: " ")
    }

    static func bytes(_ count: Int, random: inout SeededGenerator) -> Data {
        // The first number is skipped, so that the seeds of earlier failures keep their data.
        _ = random.next()
        var data = Data(capacity: count + 7)
        while data.count < count {
            withUnsafeBytes(of: random.next().littleEndian) { data.append(contentsOf: $0) }
        }
        data.removeLast(data.count - count)
        return data
    }

    static func uuid(_ random: inout SeededGenerator) -> UUID {
        let (a, b) = (random.next(), random.next())
        func byte(_ word: UInt64, index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (index * 8)) }
        return UUID(
            uuid: (
                byte(a, index: 0), byte(a, index: 1), byte(a, index: 2), byte(a, index: 3), byte(a, index: 4),
                byte(a, index: 5), byte(a, index: 6), byte(a, index: 7),
                byte(b, index: 0), byte(b, index: 1), byte(b, index: 2),
                byte(b, index: 3), byte(b, index: 4), byte(b, index: 5), byte(b, index: 6), byte(b, index: 7)
            ))
    }

    /// Words and other texts, some beyond ASCII and some not normalized.
    private static let vocabulary = [
        "blue", "river", "night", "Straße", "café", "cafe\u{301}", "золото", "夜", "音楽", "🎷", "👩🏽‍🎤", "love", "Ångström",
        "שיר", "أغنية", "a\u{0}b", "'quoted'",
        "\"double\"", "100%", "_", "new\nline", "𝄞", "rain", "machine", "garden", "stone", "light", "\u{200D}", "zero",
        "seven",
    ]
}
