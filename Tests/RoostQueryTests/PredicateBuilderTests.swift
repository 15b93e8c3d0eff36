import Foundation
import RoostCore
import RoostPredicates
import RoostQuery
import TestSamples
import Testing

@Suite("Predicates built in Swift")
struct PredicateBuilderTests {
    typealias P = FetchRequest.Predicate

    func check(_ predicate: P, reads text: String) throws {
        #expect(try predicate.format() == text)
        #expect(try P(format: text) == predicate)
    }

    @Test("comparisons built in Swift equal their text")
    func comparisons() throws {
        try check(
            .path("album.title").contains("Blue", options: .caseInsensitive) && .any("tracks.length") > 600,
            reads: #"album.title CONTAINS[c] "Blue" AND ANY tracks.length > 600"#)
        try check(.path("name").isNull || .path("name") == nil, reads: "name == NULL OR name == NULL")
        try check(!(.path("name") != nil), reads: "NOT name != NULL")
        try check(.path("a") == .path("b"), reads: "a == b")
        try check(.none("tags.name") == "x", reads: #"NOT ANY tags.name == "x""#)
        try check(.all("n") <= 2.5, reads: "ALL n <= 2.5")
        try check(.path("year").isBetween(1959, and: 1964), reads: "year BETWEEN {1959, 1964}")
        try check(.path("year").isIn([1, 2]), reads: "year IN {1, 2}")
        try check(.object == ObjectID("A", key: 1), reads: #"SELF == CAST("A/1", "NSManagedObjectID")"#)
        try check(
            .path("name").like("a*", options: [.caseInsensitive, .diacriticInsensitive]), reads: #"name LIKE[cd] "a*""#)
        try check(
            .path("name").matches("a.*") && .path("name").endsWith("z"),
            reads: #"name MATCHES "a.*" AND name ENDSWITH "z""#)
        try check(.path("name").equals("x", options: .caseInsensitive), reads: #"name ==[c] "x""#)
        try check(.variable("x") == true, reads: "$x == TRUE")
        try check(.path("a") == (nil as String?), reads: "a == NULL")
        try check(.path("a") == (3 as Int?), reads: "a == 3")
        try check(.value(1) == .path("a"), reads: "1 == a")
        try check(.path("day") < Date(timeIntervalSinceReferenceDate: 1.5), reads: #"day < CAST(1.5, "NSDate")"#)
        try check(
            .path("name").beginsWith("a") && .path("tags").contains(ObjectID("Tag", key: 2)),
            reads: #"name BEGINSWITH "a" AND tags CONTAINS CAST("Tag/2", "NSManagedObjectID")"#)
        try check(.path(\MacroTrack.album) == nil, reads: "album == NULL")
        try check(.path(\MacroTrack.seconds) > 1, reads: "length > 1")
    }

    @Test("computed values built in Swift equal their text")
    func computed() throws {
        try check(
            .objects("tracks", as: "track") { $0.path("length") > 600 && $0.path("rating") == 5 }.count >= 2,
            reads: "SUBQUERY(tracks, $track, $track.length > 600 AND $track.rating == 5).@count >= 2")
        let (a, b) = (FetchRequest.Operand.path("a"), FetchRequest.Operand.path("b"))
        try check(a + 1 < b * 2 / 3 - a, reads: "a + 1 < b * 2 / 3 - a")
        try check(.path("a") + .path("b") > .path("c"), reads: "a + b > c")
        try check(.path("a") * 2 <= .path("c"), reads: "a * 2 <= c")
        try check(-.path("a") >= 0, reads: "-a >= 0")
        try check(.path("name").uppercased.length > 3, reads: "length(uppercase(name)) > 3")
        try check(.path("tracks").sum("length") > 0, reads: "tracks.@sum.length > 0")
        try check(
            .path("tracks").average("length") < .path("tracks").maximum("length"),
            reads: "tracks.@avg.length < tracks.@max.length")
        try check(.path("tracks").first.path("name") == "x", reads: #"tracks[FIRST].name == "x""#)
        try check(.path("tracks").count == 0, reads: "tracks.@count == 0")
        try check(.path("a").applying(.modulus, 2) == 1, reads: "modulus:by:(a, 2) == 1")
    }

    @Test("a Swift key path that has no property name is refused as an unknown property")
    func unnamed() throws {
        let predicate: P = .path(\MacroTrack.unnamed) == 1
        let error = #expect(throws: StoreError.self) { try predicate.format(for: "Thing", model: everyTypeModel()) }
        #expect(error?.code == .unknownProperty)
    }

    @Test("substitution fills the variables that no SUBQUERY binds")
    func substituting() throws {
        let predicate = try P(
            format: "a = $x AND SUBQUERY(b, $x, $x.c = $y AND $x[$y] = TERNARY($y = 1, {$y}, -$y))[$z] = f.g")
        let filled = try predicate.substituting(["x": "v", "y": 1, "z": 0, "more": nil])
        #expect(
            try filled.format()
                == #"a == "v" AND SUBQUERY(b, $x, $x.c == 1 AND $x[1] == TERNARY(1 == 1, {1}, -(1)))[0] == f.g"#)
        let error = #expect(throws: StoreError.self) { try predicate.substituting(["x": "v", "y": 1]) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("'$z'") == true)
    }
}
