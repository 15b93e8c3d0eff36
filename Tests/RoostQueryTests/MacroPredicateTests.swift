import Foundation
import RoostCore
import RoostPredicates
import RoostQuery
import Testing

enum MacroGenre: String, Codable { case jazz, rock }

struct MacroPlace: PropertyNaming {
    var city: String

    static func propertyName(of keyPath: AnyKeyPath) -> String? { keyPath == \MacroPlace.city ? "city" : nil }
}

struct MacroAlbum: EntityRepresentable, Equatable {
    static func == (left: Self, right: Self) -> Bool { left.title == right.title }

    var title: String
    var year: Int
    var isLive: Bool
    var subtitle: String?
    var tracks: [MacroTrack]

    static let entityName: EntityName = "Album"
    static func propertyName(of keyPath: AnyKeyPath) -> String? {
        switch keyPath {
        case \MacroAlbum.title: "title"
        case \MacroAlbum.year: "year"
        case \MacroAlbum.isLive: "isLive"
        case \MacroAlbum.subtitle: "subtitle"
        case \MacroAlbum.tracks: "tracks"
        default: nil
        }
    }
}

final class MacroTrack: EntityRepresentable {
    let title: String
    let number: Int
    let seconds: Double
    let rating: Int?
    let isLoved: Bool
    let wasPlayed: Bool?
    let genre: MacroGenre
    let played: Date?
    let album: MacroAlbum?
    let place: MacroPlace
    let tags: [String]
    let unnamed = 1
    let cover: any Sendable = 1

    init(_ album: MacroAlbum?) {
        (title, number, seconds, rating, isLoved, wasPlayed, genre, played) = ("", 0, 0, nil, true, nil, .jazz, nil)
        (self.album, place, tags) = (album, MacroPlace(city: ""), [])
    }

    static let entityName: EntityName = "Track"
    static func propertyName(of keyPath: AnyKeyPath) -> String? {
        switch keyPath {
        case \MacroTrack.title: "title"
        case \MacroTrack.number: "number"
        case \MacroTrack.seconds: "length"
        case \MacroTrack.rating: "rating"
        case \MacroTrack.isLoved: "isLoved"
        case \MacroTrack.wasPlayed: "wasPlayed"
        case \MacroTrack.genre: "genre"
        case \MacroTrack.played: "played"
        case \MacroTrack.album: "album"
        case \MacroTrack.place: "place"
        case \MacroTrack.tags: "tags"
        case \MacroTrack.cover: "cover"
        default: nil
        }
    }
}

@Suite("Foundation's #Predicate")
struct MacroPredicateTests {
    typealias T = MacroTrack

    func text<Root: EntityRepresentable>(_ predicate: Foundation.Predicate<Root>) throws -> String {
        let translated = try FetchRequest.Predicate(predicate)
        let text = try translated.format()
        #expect(try FetchRequest.Predicate(format: text) == translated)
        return text
    }

    @Test("#Predicate translates comparisons, connectives and arithmetic")
    func plain() throws {
        let (limit, genre, days) = (5, MacroGenre.rock, [Date(timeIntervalSinceReferenceDate: 1)] as [Date?])
        #expect(
            try text(#Predicate<T> { $0.number > limit && ($0.title == "x" || $0.seconds <= 1.5) && !($0.number != 3) })
                == #"number > 5 AND (title == "x" OR length <= 1.5) AND NOT number != 3"#)
        #expect(try text(#Predicate<T> { $0.number + 1 < 3 * $0.number - 2 }) == "number + 1 < 3 * number - 2")
        #expect(try text(#Predicate<T> { -$0.seconds / 2 >= 1 }) == "-length / 2.0 >= 1.0")
        #expect(try text(#Predicate<T> { $0.number % 2 == 1 }) == "modulus:by:(number, 2) == 1")
        #expect(
            try text(#Predicate<T> { $0.number / 2 == 1 })
                == #"CAST(number - modulus:by:(number, 2), "NSDecimalNumber") / 2 == 1"#)
        #expect(try text(#Predicate<T> { $0.genre == genre }) == #"genre == "rock""#)
        #expect(try text(#Predicate<T> { $0.place.city == "x" }) == #"place.city == "x""#)
        #expect(try text(#Predicate<T> { days.contains($0.played) }) == #"played IN {CAST(1.0, "NSDate")}"#)
        #expect(try text(#Predicate<T> { _ in true }) == "TRUEPREDICATE")
    }

    @Test("#Predicate translates booleans as conditions, and conditions as values")
    func booleans() throws {
        #expect(try text(#Predicate<T> { $0.isLoved }) == "isLoved == TRUE")
        #expect(
            try text(#Predicate<T> { !$0.isLoved || $0.wasPlayed == true })
                == "NOT isLoved == TRUE OR wasPlayed == TRUE")
        #expect(try text(#Predicate<T> { ($0.number > 1) == false }) == "NOT number > 1")
        #expect(
            try text(#Predicate<T> { ($0.number > 1) == $0.isLoved }) == "TERNARY(number > 1, TRUE, FALSE) == isLoved")
        #expect(try text(#Predicate<T> { $0.wasPlayed ?? true }) == "wasPlayed != FALSE")
        #expect(
            try text(#Predicate<T> { ($0.isLoved ? 1 : 2) == $0.number }) == "TERNARY(isLoved == TRUE, 1, 2) == number")
        #expect(
            try text(#Predicate<T> { $0.isLoved ? $0.number > 1 : $0.number < 1 })
                == "isLoved == TRUE AND number > 1 OR NOT isLoved == TRUE AND number < 1")
    }

    @Test("#Predicate translates nil to NULL, and optional chaining to a path or TERNARY")
    func optionals() throws {
        #expect(try text(#Predicate<T> { $0.album == nil }) == "album == NULL")
        // The track count of a missing album is nil in Swift, and 0 in Core Data.
        #expect(
            try text(#Predicate<T> { $0.album?.tracks.count == 0 })
                == "TERNARY(album != NULL, album.tracks.@count, NULL) == 0")
        #expect(
            try text(#Predicate<T> { thing in thing.album.flatMap { _ in thing.rating } == 5 })
                == "TERNARY(album != NULL, rating, NULL) == 5")
        #expect(try text(#Predicate<T> { $0.album?.title == "x" }) == #"album.title == "x""#)
        #expect(try text(#Predicate<T> { $0.album!.year > 1 }) == "album.year > 1")
        #expect(try text(#Predicate<T> { ($0.rating ?? 0) > 3 }) == "TERNARY(rating != NULL, rating, 0) > 3")
        #expect(
            try text(#Predicate<T> { $0.album?.title.contains("x") ?? false })
                == #"album != NULL AND album.title CONTAINS "x""#)
        #expect(
            try text(#Predicate<T> { $0.album?.subtitle?.starts(with: "x") == true })
                == #"album.subtitle != NULL AND album.subtitle BEGINSWITH "x""#)
        #expect(
            try text(#Predicate<T> { $0.album.flatMap { $0.year + 1 } == 3 })
                == "TERNARY(album != NULL, album.year + 1, NULL) == 3")
        #expect(
            try text(#Predicate<T> { if let rating = $0.rating { rating > 3 } else { true } })
                == "NOT rating != NULL OR rating > 3")
    }

    @Test("#Predicate translates conditions on collections to SUBQUERY, counts and IN")
    func collections() throws {
        let names = ["a", "b"]
        #expect(
            try text(#Predicate<MacroAlbum> { $0.tracks.contains { $0.seconds > 600 && $0.number == 1 } })
                == "SUBQUERY(tracks, $element1, $element1.length > 600.0 AND $element1.number == 1).@count > 0")
        #expect(
            try text(
                #Predicate<MacroAlbum> { album in
                    album.tracks.allSatisfy { $0.seconds > 600 && album.year == $0.number }
                })
                == "NOT SUBQUERY(tracks, $element1, NOT ($element1.length > 600.0 AND year == $element1.number)).@count > 0"
        )
        #expect(
            try text(#Predicate<MacroAlbum> { $0.tracks.filter { $0.isLoved }.count > 2 })
                == "SUBQUERY(tracks, $element1, $element1.isLoved == TRUE).@count > 2")
        #expect(
            try text(#Predicate<MacroAlbum> { $0.tracks.count > 2 && !$0.tracks.isEmpty })
                == "tracks.@count > 2 AND NOT tracks.@count == 0")
        #expect(try text(#Predicate<MacroAlbum> { $0.tracks[0].title == "x" }) == #"tracks[0].title == "x""#)
        #expect(try text(#Predicate<MacroAlbum> { $0.tracks.first?.title == "x" }) == #"tracks[FIRST].title == "x""#)
        #expect(try text(#Predicate<T> { names.contains($0.title) }) == #"title IN {"a", "b"}"#)
        #expect(
            try text(#Predicate<T> { track in names.contains { track.title.starts(with: $0) } })
                == #"title BEGINSWITH "a" OR title BEGINSWITH "b""#)
        #expect(try text(#Predicate<T> { $0.tags.contains("x") }) == #"tags CONTAINS "x""#)
        #expect(try text(#Predicate<T> { $0.tags.max() == "x" }) == #"max(tags) == "x""#)
        #expect(
            try text(
                #Predicate<MacroAlbum> {
                    $0.tracks.contains { $0.album.flatMap { $0.tracks.contains { $0.isLoved } } ?? false }
                }
            ).contains("$element3.isLoved"))
    }

    @Test("#Predicate translates operations on texts and ranges")
    func texts() throws {
        let (half, closed, from) = (1..<5, 1.5...2.5, 3...)
        #expect(
            try text(#Predicate<T> { $0.title.contains("x") && $0.title.starts(with: "y") })
                == #"title CONTAINS "x" AND title BEGINSWITH "y""#)
        #expect(try text(#Predicate<T> { $0.title.isEmpty }) == #"title == """#)
        #expect(try text(#Predicate<T> { $0.title.contains(/a.b/) }) == #"title MATCHES "(?s:.*)(?:a.b)(?s:.*)""#)
        #expect(try text(#Predicate<T> { (1...$0.number).contains($0.number) }) == "number BETWEEN {1, number}")
        #expect(try text(#Predicate<T> { half.contains($0.number) }) == "number >= 1 AND number < 5")
        #expect(try text(#Predicate<T> { closed.contains($0.seconds) }) == "length BETWEEN {1.5, 2.5}")
        #expect(try text(#Predicate<T> { from.contains($0.number) }) == "number >= 3")
    }

    @Test("#Predicate with an untranslatable operation is refused, and the error names it")
    func refusesUntranslatable() throws {
        func refusal<Root: EntityRepresentable>(_ predicate: Foundation.Predicate<Root>) -> String {
            do throws(StoreError) {
                _ = try FetchRequest.Predicate(predicate)
                return ""
            } catch {
                return error.code == .unsupported ? error.message : ""
            }
        }
        let table = ["secret": 1]
        #expect(refusal(#Predicate<T> { $0.title.count > 3 }).contains("'count' of a text"))
        #expect(refusal(#Predicate<T> { $0.cover is String }).contains("'is String'"))
        #expect(refusal(#Predicate<T> { ($0.cover as? String) == nil }).contains("a cast to 'String'"))
        #expect(refusal(#Predicate<T> { table[$0.title] == 1 }).contains("a dictionary's"))
        #expect(!refusal(#Predicate<T> { table[$0.title] == 1 }).contains("secret"))
        #expect(refusal(#Predicate<T> { $0.unnamed == 1 }).contains("unnamed"))
        #expect(refusal(#Predicate<T> { $0.tags[0..<1].isEmpty }).contains("a range in brackets"))
        #expect(refusal(#Predicate<T> { $0.title.utf8.isEmpty }).contains("'UTF8View'"))
    }
}
