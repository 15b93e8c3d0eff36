import Foundation
import RoostCore
import RoostPredicates
import RoostQuery
import TestSamples
import Testing

@Suite("Predicates built in Swift")
struct PredicateBuilderTests {
    typealias P = FetchRequest.Predicate

    func check(_ predicate: P, _ text: String) throws {
        #expect(try predicate.format() == text)
        #expect(try P(format: text) == predicate)
    }

    @Test("comparisons built in Swift equal their text")
    func comparisons() throws {
        try check(
            .path("album.title").contains("Blue", options: .caseInsensitive) && .any("tracks.length") > 600,
            #"album.title CONTAINS[c] "Blue" AND ANY tracks.length > 600"#)
        try check(.path("name").isNull || .path("name") == nil, "name == NULL OR name == NULL")
        try check(!(.path("name") != nil), "NOT name != NULL")
        try check(.path("a") == .path("b"), "a == b")
        try check(.none("tags.name") == "x", #"NOT ANY tags.name == "x""#)
        try check(.all("n") <= 2.5, "ALL n <= 2.5")
        try check(.path("year").isBetween(1959, and: 1964), "year BETWEEN {1959, 1964}")
        try check(.path("year").isIn([1, 2]), "year IN {1, 2}")
        try check(.object == ObjectID("A", key: 1), #"SELF == CAST("A/1", "NSManagedObjectID")"#)
        try check(.path("name").like("a*", options: [.caseInsensitive, .diacriticInsensitive]), #"name LIKE[cd] "a*""#)
        try check(
            .path("name").matches("a.*") && .path("name").endsWith("z"), #"name MATCHES "a.*" AND name ENDSWITH "z""#)
        try check(.path("name").equals("x", options: .caseInsensitive), #"name ==[c] "x""#)
        try check(.variable("x") == true, "$x == TRUE")
        try check(.path("a") == (nil as String?), "a == NULL")
        try check(.path("a") == (3 as Int?), "a == 3")
        try check(.value(1) == .path("a"), "1 == a")
        try check(.path("day") < Date(timeIntervalSinceReferenceDate: 1.5), #"day < CAST(1.5, "NSDate")"#)
        try check(
            .path("name").beginsWith("a") && .path("tags").contains(ObjectID("Tag", key: 2)),
            #"name BEGINSWITH "a" AND tags CONTAINS CAST("Tag/2", "NSManagedObjectID")"#)
        try check(.path(\MacroTrack.album) == nil, "album == NULL")
        try check(.path(\MacroTrack.seconds) > 1, "length > 1")
    }

    @Test("computed values built in Swift equal their text")
    func computed() throws {
        try check(
            .objects("tracks", as: "track") { $0.path("length") > 600 && $0.path("rating") == 5 }.count >= 2,
            "SUBQUERY(tracks, $track, $track.length > 600 AND $track.rating == 5).@count >= 2")
        let (a, b) = (FetchRequest.Operand.path("a"), FetchRequest.Operand.path("b"))
        try check(a + 1 < b * 2 / 3 - a, "a + 1 < b * 2 / 3 - a")
        try check(.path("a") + .path("b") > .path("c"), "a + b > c")
        try check(.path("a") * 2 <= .path("c"), "a * 2 <= c")
        try check(-.path("a") >= 0, "-a >= 0")
        try check(.path("name").uppercased.length > 3, "length(uppercase(name)) > 3")
        try check(.path("tracks").sum("length") > 0, "tracks.@sum.length > 0")
        try check(
            .path("tracks").average("length") < .path("tracks").maximum("length"),
            "tracks.@avg.length < tracks.@max.length")
        try check(.path("tracks").first.path("name") == "x", #"tracks[FIRST].name == "x""#)
        try check(.path("tracks").count == 0, "tracks.@count == 0")
        try check(.path("a").applying(.modulus, 2) == 1, "modulus:by:(a, 2) == 1")
    }

    @Test("a key path without a property's name is an unknown property")
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
