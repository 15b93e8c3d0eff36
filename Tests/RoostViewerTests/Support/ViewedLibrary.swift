#if Interactive
    import Foundation
    import Roost
    import RoostCore
    import RoostJSONText
    import RoostStores
    import RoostSystem

    @testable import RoostViewer

    /// A small library in memory, and a server that gets requests like those of a program.
    final class ViewedLibrary: Sendable {
        static let token = "a-token-for-programs"

        let store: Store
        let server: PageServer
        let access: AccessGuard

        init(
            model: ManagedObjectModel? = nil, allowsChanges: Bool = false,
            fill: (Store) throws -> Void = ViewedLibrary.fill
        ) throws {
            store = try Store.open(.memory("library-\(UUID().uuidString)"), model: try model ?? Self.model())
            try fill(store)
            let viewed = try ViewedStore(store, name: "library", title: "library.sqlite", allowsChanges: allowsChanges)
            server = PageServer([viewed], version: "0", allowsChanges: allowsChanges)
            access = AccessGuard(port: 8080, programToken: Self.token)
            server.begin(access)
        }

        static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Artist", attributes: [.init("name", type: .string, isOptional: false)],
                    relationships: [
                        .toMany("albums", to: "Album", inverse: "artist", isOrdered: true).with {
                            $0.deleteRule = .cascade
                        }
                    ]),
                EntityDescription(
                    "Album",
                    attributes: [
                        .init("title", type: .string, isOptional: false), .init("year", type: .integer64),
                        .init("price", type: .decimal), .init("isLive", type: .boolean),
                        .init("cover", type: .binaryData),
                        .init("released", type: .date),
                        .init("plays", type: .integer64).with { $0.validation.maximum = .int(1000) },
                        .init(
                            "label", type: .composite,
                            elements: [.init("city", type: .string), .init("founded", type: .integer32)]),
                    ],
                    relationships: [
                        .toOne("artist", to: "Artist", inverse: "albums"),
                        .toMany("tags", to: "Tag", inverse: "albums"),
                        .toMany("tracks", to: "Track", inverse: "albums", isOrdered: true),
                    ]
                ).with { $0.uniquenessConstraints = [["title"]] },
                EntityDescription("Compilation", superentity: "Album", attributes: [.init("editor", type: .string)]),
                EntityDescription(
                    "Tag", attributes: [.init("name", type: .string)],
                    relationships: [.toMany("albums", to: "Album", inverse: "tags")]),
                EntityDescription(
                    "Track", attributes: [.init("name", type: .string)],
                    relationships: [.toMany("albums", to: "Album", inverse: "tracks")]),
                EntityDescription(
                    "Note", attributes: [.init("text", type: .string), .init("width, mm", type: .integer64)],
                    relationships: [.toOne("about", to: "Album")]),
            ])
        }

        @Sendable static func fill(_ store: Store) throws {
            let artists =
                try store.insert(
                    "Artist", rows: [["name": "Queen"], ["name": "Björk"]], result: .objectIDs
                ).objectIDs ?? []
            var rows: [[String: Value]] = []
            for number in 1...20 {
                rows.append([
                    "title": .string("Album \(number)"), "year": .int(Int64(1970 + number % 5)),
                    "artist": .objectID(artists[number % 2]), "isLive": .bool(number % 2 == 0),
                ])
            }
            let albums = try store.insert("Album", rows: rows, result: .objectIDs).objectIDs ?? []
            try store.insert("Compilation", rows: [["title": "Best of", "year": 1999, "editor": "Ann"]])
            try store.insert("Note", rows: [["text": "good", "about": .objectID(albums[0])]])
        }

        /// Sends a request as a program does.
        func send(
            _ method: String, to address: String, body: String = "", headers: [String: String] = [:]
        ) throws -> HTTPResponse {
            var all = ["host": "127.0.0.1:8080", "authorization": "Bearer \(Self.token)"]
            if method != "GET" { all["content-type"] = "application/json" }
            all.merge(headers) { $1 }
            guard var request = HTTPRequest(method, address: address, headers: all) else { throw BadAddress() }
            request.body = Array(body.utf8)
            return server.answer(request)
        }

        struct BadAddress: Error {}

        func send(_ address: String) throws -> HTTPResponse { try send("GET", to: address) }

        /// Returns the data of a view.
        func get(_ address: String) throws -> JSONNode { try JSONNode(try send(address).body) }
    }

    extension HTTPResponse {
        func json() throws -> JSONNode { try JSONNode(body) }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    extension JSONNode {
        /// Returns the value at a path of names and positions, or nil.
        func at(_ path: String) -> JSONNode? {
            var node: JSONNode? = self
            for part in path.split(separator: ".") {
                if let position = Int(part), let elements = node?.elements {
                    node = elements.indices.contains(position) ? elements[position] : nil
                } else {
                    node = node?[String(part)]
                }
            }
            return node
        }

        /// This value as JSON on one line.
        var line: String { String(decoding: JSONText.bytes(self), as: UTF8.self) }
    }
#endif
