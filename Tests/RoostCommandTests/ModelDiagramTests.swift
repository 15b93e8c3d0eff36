import Foundation
import Testing

@Suite("roost model graph")
struct ModelDiagramTests {
    private let music = """
        {"formatVersion": 1, "entities": {
          "Work": {"isAbstract": true, "attributes": {"title": {"type": "string", "isOptional": false}}},
          "Album": {"superentity": "Work", "attributes": {"year": {"type": "integer32"}},
            "relationships": {
              "tracks": {"destination": "Track", "inverse": "album", "isOrdered": true, "deleteRule": "cascade"},
              "artist": {"destination": "Artist", "inverse": "albums", "maxCount": 1, "isOptional": false}}},
          "Track": {"superentity": "Work",
            "relationships": {"album": {"destination": "Album", "inverse": "tracks", "maxCount": 1}}},
          "Artist": {"attributes": {"name": {"type": "string"}, "place": {"type": "composite", "elements": {"city": {"type": "string"}, "land": {"type": "string"}}}},
            "relationships": {"albums": {"destination": "Album", "inverse": "artist", "deleteRule": "deny"}}},
          "Label": {"relationships": {"boss": {"destination": "Artist", "maxCount": 1}}}}}
        """

    private func place(_ files: (name: String, text: String)...) throws -> Workplace {
        let place = try Workplace()
        for file in files { try place.write(Data(file.text.utf8), to: file.name) }
        return place
    }

    @Test("model graph draws entities, superentities and relationships as Mermaid")
    func mermaid() throws {
        let result = try place(("m.json", music)).roost("model", "graph", "m.json")
        #expect(result.code == 0 && result.errors == "")
        #expect(
            result.output == """
                classDiagram
                    class e0["Album"] {
                        year: integer32?
                    }
                    class e1["Artist"] {
                        name: string?
                        place: composite? of city, land
                    }
                    class e2["Label"] {
                    }
                    class e3["Track"] {
                    }
                    class e4["Work"] {
                        <<abstract>>
                        title: string
                    }
                    e4 <|-- e0
                    e4 <|-- e3
                    e0 "*" -- "1" e1 : artist, nullify / albums, deny
                    e0 "0..1" -- "*" e3 : tracks, ordered, cascade / album, nullify
                    e2 --> "0..1" e1 : boss, nullify

                """)
    }

    @Test("model graph draws entities, superentities and relationships for Graphviz")
    func dot() throws {
        let output = try place(("m.json", music)).roost("model", "graph", "m.json", "--format=dot").output
        #expect(output.hasPrefix("digraph model {") && output.hasSuffix("}\n"))
        #expect(output.contains("<td><i>Work</i></td>") && output.contains("<td><b>Album</b></td>"))
        #expect(output.contains("e0 -> e4 [arrowhead=empty];"))
        #expect(
            output.contains(
                "e0 -> e3 [dir=none, taillabel=\"0..1\", headlabel=\"*\", label=\"tracks, ordered, cascade\\nalbum, nullify\"];"
            ))
        #expect(output.contains("e2 -> e1 [headlabel=\"0..1\", label=\"boss, nullify\"];"))
    }

    @Test(
        "model graph --depth draws the entities within a number of relationships",
        arguments: [
            ("Label", "0", ["Label"]), ("Label", "1", ["Artist", "Label"]),
            ("Label", "2", ["Album", "Artist", "Label", "Track", "Work"]), ("Artist", "0", ["Artist"]),
            // An entity is drawn with its superentities and subentities.
            ("Track", "0", ["Album", "Track", "Work"]),
        ])
    func depth(entity: String, depth: String, expected: [String]) throws {
        let result = try place(("m.json", music)).roost(
            "model", "graph", "m.json", "--entity=\(entity)", "--depth=\(depth)")
        let names = result.output.split(separator: "\n").filter { $0.contains("class e") }
            .compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
        #expect(names == expected)
    }

    @Test("model diff draws added, removed and changed parts of two models")
    func changes() throws {
        let new = music.replacingOccurrences(
            of: "\"year\": {\"type\": \"integer32\"}", with: "\"label\": {\"type\": \"string\"}"
        )
        .replacingOccurrences(of: "\"deleteRule\": \"deny\"", with: "\"deleteRule\": \"cascade\"")
        .replacingOccurrences(of: "\"Label\": {\"relationships\"", with: "\"Firm\": {\"relationships\"")
        let place = try place(("old.json", music), ("new.json", new))
        let result = try place.roost("model", "diff", "old.json", "new.json", "--format=mermaid")
        #expect(result.code == 1)
        for line in [
            "label: string?, added", "year: integer32?, removed", "style e0 fill:#fbe9b0", "class e2[\"Firm\"] {",
            "style e2 fill:#c8f0c8", "class e5[\"Label\"] {", "style e5 fill:#f6caca",
            "e0 \"*\" -- \"1\" e1 : artist, nullify / albums, cascade, changed",
            "e2 --> \"0..1\" e1 : boss, nullify, added", "e5 --> \"0..1\" e1 : boss, nullify, removed",
        ] {
            #expect(result.output.contains("    \(line)\n"), "\(line)\n\(result.output)")
        }
        let same = try place.roost("model", "diff", "old.json", "old.json", "--format=dot")
        #expect(same.code == 0 && !same.output.contains("color"))
    }

    @Test("names with special characters do not alter a diagram")
    func hostileNames() throws {
        let name = "a\\\"<b>{x};%% &~(1) --> e1"
        let text = try String(decoding: JSONEncoder().encode(name), as: UTF8.self)
        let place = try place(
            (
                "m.json",
                "{\"formatVersion\": 1, \"entities\": {\(text): {\"attributes\": {\(text): {\"type\": \"string\"}}}}}"
            ))
        let mermaid = try place.roost("model", "graph", "m.json").output
        #expect(mermaid.split(separator: "\n").count == 4)
        #expect(!mermaid.contains("-->") && !mermaid.contains("<b>") && !mermaid.contains("%%"))
        let dot = try place.roost("model", "graph", "m.json", "--format=dot").output
        #expect(!dot.contains("<b>{x}") && dot.contains("&lt;b&gt;{x};%% &amp;~(1) --&gt; e1"))
    }

    @Test("model graph for SVG without Graphviz names the missing program")
    func withoutGraphviz() throws {
        let place = try place(("m.json", music))
        let program = try #require(Workplace.program)
        let run = try RunningCommand(
            ["/usr/bin/env", "PATH=/nowhere", program, "model", "graph", "m.json", "--format=svg"], in: place.path)
        try run.wait().expectError(3, containing: "Graphviz's program 'dot' is not installed")
    }

    private static let hasGraphviz = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/dot") }

    @Test("model graph draws SVG with Graphviz", .enabled(if: hasGraphviz, "Graphviz's program dot is not installed"))
    func svg() throws {
        let result = try place(("m.json", music)).roost("model", "graph", "m.json", "--format=svg")
        #expect(result.code == 0 && result.output.contains("<svg") && result.output.contains("</svg>"))
        #expect(result.output.contains(">tracks, ordered, cascade<"))
    }

    @Test("model graph with a wrong option names it and exits with 2")
    func usage() throws {
        let place = try place(("m.json", music))
        try place.roost("model", "graph", "m.json", "--entity=Albun").expectError(
            2, containing: "did you mean 'Album'?")
        try place.roost("model", "graph", "m.json", "--format=png").expectError(2, containing: "mermaid, dot or svg")
        try place.roost("model", "graph", "m.json", "--depth=1").expectError(2, containing: "--entity")
        try place.roost("model", "graph", "m.json", "--json", "--format=dot").expectError(2, containing: "--json")
        try place.roost("model", "graph").expectError(2, containing: "FILE")
    }
}
