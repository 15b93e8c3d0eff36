#if Macros
    import Foundation
    import Testing

    /// The compiler for model classes, with the modules and the macro of this build.
    private struct Compiler {
        let path: String
        let products: URL

        /// The compiler, and the products beside the tests; nil if one of them is missing.
        static let found: Compiler? = {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            guard
                let path = folders.map({ "\($0)/swiftc" }).first(where: {
                    FileManager.default.isExecutableFile(atPath: $0)
                })
            else { return nil }
            var directory = URL(
                fileURLWithPath: CommandLine.arguments.first { $0.contains(".xctest") } ?? Bundle.main.bundlePath)
            while directory.path != "/" {
                if FileManager.default.fileExists(
                    atPath: directory.appending(path: "Modules/RoostModels.swiftmodule").path),
                    FileManager.default.isExecutableFile(atPath: directory.appending(path: "RoostMacros-tool").path)
                {
                    return Compiler(path: path, products: directory)
                }
                directory.deleteLastPathComponent()
            }
            return nil
        }()

        struct Diagnostic: CustomStringConvertible {
            let line: Int
            let severity: String
            let message: String
            var description: String { "\(line): \(severity): \(message)" }
        }

        func diagnostics(for text: String, options: [String] = []) throws -> [Diagnostic] {
            let directory = FileManager.default.temporaryDirectory.appending(path: "macro-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let file = directory.appending(path: "Models.swift")
            try Data(text.utf8).write(to: file)
            let log = directory.appending(path: "log")
            try Data().write(to: log)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments =
                [
                    "-swift-version", "6", "-parse-as-library", "-module-name", "Models", "-emit-sil", "-o",
                    "/dev/null",
                    "-diagnostic-style", "llvm", "-I", products.appending(path: "Modules").path,
                    "-load-plugin-executable", "\(products.appending(path: "RoostMacros-tool").path)#RoostMacros",
                    file.path,
                ] + options
            // The modules of C targets, which the package's own modules import.
            let sources = URL(fileURLWithPath: #filePath).appending(path: "../../../Sources/C").standardized
            for map in [products.appending(path: "CRoostSystem.build/module.modulemap")]
                + ["CXXHash", "CSQLite", "CLMDB", "CPostgreSQL", "CZlib"].map({
                    sources.appending(path: "\($0)/module.modulemap")
                })
            where FileManager.default.fileExists(atPath: map.path) {
                process.arguments?.append(contentsOf: ["-Xcc", "-fmodule-map-file=\(map.path)"])
            }
            let handle = try FileHandle(forWritingTo: log)
            process.standardError = handle
            process.standardOutput = handle
            try process.run()
            process.waitUntilExit()
            try handle.close()
            let output = try String(contentsOf: log, encoding: .utf8)
            let diagnostics: [Diagnostic] = output.split(separator: "\n").compactMap { line in
                for severity in ["error", "warning"] {
                    guard let range = line.range(of: ": \(severity): ") else { continue }
                    let place = line[..<range.lowerBound].split(separator: ":")
                    let isHere = place.first.map { $0 == file.path } ?? false
                    return Diagnostic(
                        line: isHere && place.count >= 2 ? Int(place[1]) ?? 0 : 0, severity: severity,
                        message: String(line[range.upperBound...]))
                }
                return nil
            }
            #expect((process.terminationStatus == 0) == !diagnostics.contains { $0.severity == "error" }, "\(output)")
            return diagnostics
        }
    }

    @Suite(
        "@Model and the compiler",
        .enabled(if: Compiler.found != nil, "swiftc, the modules or the macro were not found"))
    struct RealCompilerTests {
        /// Returns code of classes with all kinds of members.
        private static func valid(_ access: String) -> String {
            """
            import Foundation
            \(access.isEmpty ? "" : "\(access) ")import RoostModels

            \(access) enum Music {
                @Model public class Party: ManagedObject {
                    \(access) final var name: String
                    @Relationship(inverse: \\Album.party) \(access) final var albums: OrderedToMany<Album>
                    \(access) static var all: Fetch<Party> { Party.fetch(sortedBy: ["name"]) }
                }
                @Model \(access) final class Band: Party {
                    \(access) var members: [String] = []
                    \(access) override func willSave() { members.sort() }
                }
                @Unique("title", "year") @Index("year")
                @Model(renamingIdentifier: "Record") \(access) final class Album: ManagedObject {
                    \(access) var title: String
                    var year: Int16 = 1970
                    var kind: Kind = .studio
                    var released: Date?
                    \(access) var party: Party?
                    var best: Song?
                    static let recent = Fetch<Album>(where: "year > 2000")
                    enum Kind: Int32, Sendable { case studio, live }
                }
                @Model final class Song: ManagedObject {
                    @Relationship(inverse: "best") var albums: ToMany<Album>
                    var `default`: Bool = false
                    var data: Data?
                    @Transient var cache: [Int: () -> Void] = [:]
                    var date: Date = Date(timeIntervalSinceReferenceDate: 0)
                }
                static let types: [any ManagedObjectClass.Type] = [Party.self, Band.self, Album.self, Song.self]
            }

            func titles(_ context: ManagedObjectContext) throws -> [String] {
                let request = try Fetch(#Predicate<Music.Album> { $0.party?.name == "x" && $0.year > 3 })
                return try context.fetch(request).map(\\.title)
            }

            """
        }

        @Test("@Model classes of all kinds compile without a warning", arguments: ["", "public", "package"])
        func valid(access: String) throws {
            var options = ["-warnings-as-errors"] + (access == "package" ? ["-package-name", "test"] : [])
            // The strictest settings that a program can have.
            for feature in ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"] {
                options += ["-enable-upcoming-feature", feature]
            }
            let text = Self.valid(access).replacing("@Model public class", with: "@Model \(access) class")
            let found = try #require(Compiler.found).diagnostics(for: text, options: options)
            #expect(found.isEmpty, "\(found)")
        }

        @Test("nonisolated @Model classes compile with main actor isolation by default")
        func mainActor() throws {
            let text = Self.valid("").replacing("enum Music", with: "nonisolated enum Music")
                .replacing("@Model public class", with: "@Model nonisolated class")
                .replacing(" final class", with: " nonisolated final class")
                .replacing("enum Kind", with: "nonisolated enum Kind")
            let options = ["-warnings-as-errors", "-default-isolation", "MainActor"]
            let found = try #require(Compiler.found).diagnostics(for: text, options: options)
            #expect(found.isEmpty, "\(found)")
        }

        /// Wrong members, each with a part of the error message for the line with `// here`.
        private static let wrong: [(String, String)] = [
            ("var x = make() // here", "Write the type of 'x'"),
            ("var é: String // ä\n    let y: Int16 // here", "is a 'var'"),
            ("var x: Int16 = 3\n    {\n didSet {} }\n    var context: String? // here", "member of ManagedObject"),
            ("var cover: Cover // here", "needs an initial value"),
            ("var x: Int16 = \"text\" // here", "cannot convert value of type 'String'"),
            ("var x: Date =\n        .now // here", "the same for all objects"),
            ("@Attribute(minimun: 3) // here\n    var x: Int16", "incorrect argument label"),
            ("@Attribute(maximumLength: \"3\") // here\n    var x: String", "'String'"),
            ("@Relationship(inverse: \\Other.nothing) // here\n    var x: Other?", "'nothing'"),
            ("@Relationship // here\n    var x: Int16", "has the type of an attribute"),
            ("var x: Nothing? // here", "cannot find type 'Nothing' in scope"),
            ("}\nfinal class Plain {\n    @Attribute(type: .uri) // here\n    var x: String?", "of a @Model class"),
        ]

        @Test("an error of a @Model property causes no errors in other lines")
        func oneError() throws {
            let text = """
                import Foundation
                import RoostModels
                @Unique("titel") @Model final class Album: ManagedObject {
                    var title: String
                    var released: Date = .now
                    var artist: Artist?
                }
                @Model final class Artist: ManagedObject {
                    @Relationship(inverse: \\Album.artist) var albums: ToMany<Album>
                }
                func count(_ context: ManagedObjectContext) throws -> Int { try context.count(Fetch<Album>()) }

                """
            let found = try #require(Compiler.found).diagnostics(for: text)
            #expect(Set(found.map(\.line)) == [3, 5], "\(found)")
        }

        @Test("the compiler reports an error of a @Model class at its line", arguments: Self.wrong)
        func errors(member: String, message: String) throws {
            let text = """
                import Foundation
                import RoostModels

                struct Cover: Codable, Sendable {}
                func make() -> Int16 { 3 }

                @Model final class Other: ManagedObject {
                    var title: String
                }

                /* A comment before the class */
                @Model final class Album: ManagedObject {
                    /// A title.
                    var title: String
                    \(member)
                }

                """
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let line = try #require(lines.firstIndex { $0.hasSuffix("// here") }) + 1
            let found = try #require(Compiler.found).diagnostics(for: text)
            #expect(found.contains { $0.line == line && $0.message.contains(message) }, "line \(line): \(found)")
        }
    }
#endif
