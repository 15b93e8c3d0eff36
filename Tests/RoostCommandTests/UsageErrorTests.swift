import Foundation
import Testing

/// Exit code 2 is for a wrong argument, 3 for an error of a store, a model or a disk.
@Suite("Exit codes of failed commands")
struct UsageErrorTests {
    @Test(
        "commands with wrong arguments exit with 2 and make no file",
        arguments: [
            ["info", "sqlit:a"], ["check", "nope:a"], ["info", "sqlite:"], ["convert", "a", "lmdbx:b"],
            ["convert", "a", "b.unknown"], ["convert", "a", "coredata:b"], ["convert", "a", "sqlite:a"],
            ["backup", "a", "a"], ["backup", "a", "lmdb:b"], ["fetch", "a", "Albun"],
            ["fetch", "a", "Album", "--where=titel = 'x'"], ["fetch", "a", "Album", "--where=title ="],
            ["fetch", "a", "Album", "--select=nope"], ["fetch", "a", "Album", "--sort=nope"],
            ["fetch", "a", "Album", "--sort=nope", "--count"], ["fetch", "a", "Album", "--sort=nope", "--explain"],
            ["fetch", "a", "Album", "--select=count(nope)"], ["fetch", "a", "Album", "--group-by=nope"],
            ["fetch", "a", "Album", "--nope"], ["fetch", "a", "Album", "--limit=x"],
            ["update", "a", "Album", "--set=nope = 1", "--yes"],
            ["update", "a", "Albun", "--set=title = 'x'", "--yes"],
            ["delete", "a", "Album", "--where=nope = 1", "--yes"],
            ["delete", "a", "Album", "--sort=nope", "--limit=1", "--yes"], ["dump", "a", "--entity=Albun"],
            ["model", "print", "a", "--model-version=2"], ["model", "history", "a"],
            ["migrate", "a", "--to=sqlite:a", "--output=nope:b"],
        ])
    func usage(arguments: [String]) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 50)
        let before = try place.names()
        let result = try place.start(arguments).wait()
        #expect(result.code == 2 && !result.wasKilled, "\(result.code) \(result.errors)")
        #expect(result.errors.hasPrefix("roost: ") && result.output == "", "\(result.errors)")
        #expect(try place.names() == before)
    }

    @Test(
        "a command on a missing or unusable file exits with 3",
        arguments: [
            ["info", "sqlite:missing"], ["info", "missing"], ["info", "sqlite:text"],
            ["convert", "a", "json:no/where"],
            ["convert", "a", "sqlite:text"], ["model", "print", "missing.json"], ["model", "print", "text"],
        ])
    func others(arguments: [String]) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 50)
        try place.write(Data("no store".utf8), to: "text")
        let result = try place.start(arguments).wait()
        #expect(result.code == 3 && !result.wasKilled, "\(result.code) \(result.errors)")
    }

    @Test("a migration whose mapping model names an unknown property exits with 3")
    func wrongMapping() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 50)
        let mapping = """
            {"formatVersion": 1, "entityMappings": [{"name": "m", "type": "transform", "source": "Album", "destination": "Album",
            "attributes": {"nope": {"value": "$source.title"}}}]}
            """
        try place.write(Data(mapping.utf8), to: "m.json")
        let model = try place.roost("model", "print", "a").output
        try place.write(Data(model.utf8), to: "model.json")
        let result = try place.roost("migrate", "a", "--to=model.json", "--mapping=m.json", "--output=json:b")
        #expect(result.code == 3 && !result.wasKilled, "\(result.code) \(result.errors)")
    }
}
