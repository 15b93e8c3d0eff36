import Foundation
import Roost
import RoostAppleModels
import RoostCore
import RoostCoreData
import RoostMigration
import Testing

@Suite("The order of versions in a bundle")
struct VersionOrderTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The versions of a wallet's model, oldest first.
    ///
    /// The name of the first version differs from the names of the others.
    static let made =
        ["UserDataModel", "MultiassetUserDataModel"] + (2...11).map { "MultiassetUserDataModel_v\($0)" }

    /// Writes a bundle whose n-th version has the attributes `a1` … `an`.
    private func writeBundle(_ versions: [String], current: String? = nil) throws -> String {
        for (index, name) in versions.enumerated() {
            let attributes = (1...index + 1).map {
                "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"String\"/>"
            }
            try directory.write(
                "<model><entity name=\"Item\">\(attributes.joined())</entity></model>",
                to: "Wallet.xcdatamodeld/\(name).xcdatamodel/contents")
        }
        let member = current.map { "<key>_XCCurrentVersionName</key><string>\($0).xcdatamodel</string>" } ?? ""
        try directory.write(
            "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>\(member)</dict></plist>",
            to: "Wallet.xcdatamodeld/.xccurrentversion")
        return directory.file("Wallet.xcdatamodeld")
    }

    private func history(at path: String, evidence: VersionEvidence = VersionEvidence()) throws -> ModelHistory {
        try #require(try ModelFile.history(at: path, evidence: evidence)).history
    }

    private func model(at path: String, version: String) throws -> ManagedObjectModel {
        try ModelFile.read(path, version: version).model
    }

    @Test("the order guessed from names alone puts a differently named first version last")
    func guessesFromNames() throws {
        let path = try writeBundle(Self.made)
        let history = try history(at: path)
        #expect(history.versions.map(\.name) == Array(Self.made.dropFirst()) + ["UserDataModel"])
        #expect(history.orderReasons.dropLast().allSatisfy { $0 == "the numbers in the names" })
        #expect(history.orderReasons.last?.contains("nothing indicates it") == true)
        #expect(history.orderReasons.count == history.versions.count - 1)
    }

    @Test("versions with no evidence except their names are ordered by name, and the reasons say so")
    func sortedByName() throws {
        let history = try history(at: try writeBundle(["Model2", "Model 1", "Other"]))
        #expect(history.versions.map(\.name) == ["Model2", "Model 1", "Other"])
        #expect(
            history.orderReasons == [
                "the order of names that begin alike", "nothing indicates it; the versions are sorted by name",
            ])
    }

    @Test("a stated order of versions overrides their numbers, and names order the others")
    func stated() throws {
        let path = try writeBundle(Self.made)
        let history = try history(
            at: path, evidence: VersionEvidence(order: ["UserDataModel", "MultiassetUserDataModel"]))
        #expect(history.versions.map(\.name) == Self.made)
        #expect(history.orderReasons.first == "the stated order")
        let turned = try self.history(
            at: path, evidence: VersionEvidence(order: ["MultiassetUserDataModel_v3", "MultiassetUserDataModel_v2"]))
        let names = turned.versions.map(\.name)
        let (third, second) = (
            names.firstIndex(of: "MultiassetUserDataModel_v3"), names.firstIndex(of: "MultiassetUserDataModel_v2")
        )
        #expect(try #require(third) < #require(second))
        #expect(Set(names) == Set(Self.made) && names.count == Self.made.count)
    }

    @Test("a stated order with an unknown or repeated version is refused, and the error names it")
    func wrongOrder() throws {
        let path = try writeBundle(Self.made)
        let unknown = try failure {
            try history(at: path, evidence: VersionEvidence(order: ["UserDatamodel", "UserDataModel"]))
        }
        #expect(unknown.code == .invalidRequest && unknown.message.contains("did you mean 'UserDataModel'?"))
        let twice = try failure {
            try history(
                at: path,
                evidence: VersionEvidence(order: ["UserDataModel", "MultiassetUserDataModel", "UserDataModel"]))
        }
        #expect(twice.code == .invalidRequest && twice.message.contains("names 'UserDataModel' twice"))
    }

    @Test(
        "the source version of a mapping model comes before its destination",
        arguments: ["@", "paths", "hashes", "oldHashes"])
    func mappings(how: String) throws {
        let path = try writeBundle(Self.made)
        let (from, to) = ("UserDataModel", "MultiassetUserDataModel")
        let file: String
        switch how {
        case "paths", "@":
            var text = MappingFileText(
                how == "@"
                    ? []
                    : [
                        ("sourcemodelpath", "App/Old.xcdatamodeld/\(from).xcdatamodel"),
                        ("destinationmodelpath", "App/Old.xcdatamodeld/\(to).xcdatamodel"),
                    ])
            let attributes = [text.attribute("a1"), text.attribute("a2")]
            text.entity(from: "Item", to: "Item", number: 1, attributeMappings: attributes)
            try directory.write(text.bytes, to: "Single.xcmappingmodel/xcmapping.xml")
            file = directory.file("Single.xcmappingmodel") + (how == "@" ? "@\(from)..\(to)" : "")
        default:
            let (old, new) = (try model(at: path, version: from), try model(at: path, version: to))
            var mapping = try MappingModel.inferred(from: old, to: new)
            if how == "oldHashes" {
                mapping.entityMappings[0].sourceVersionHash = old.versionHashes(by: .v1)["Item"]
                mapping.entityMappings[0].destinationVersionHash = new.versionHashes(by: .v1)["Item"]
            }
            try directory.write(Array(mapping.document()), to: "single.roostmapping.json")
            file = directory.file("single.roostmapping.json")
        }
        let history = try history(at: path, evidence: VersionEvidence(mappings: [file]))
        #expect(history.versions.map(\.name) == Self.made)
        #expect(history.orderReasons.first == "a mapping model is from the older to the newer version")
        #expect(history.mappings.map { [$0.source, $0.destination] } == [[0, 1]])
        // A stated order that contradicts the mapping model is refused.
        let stated = VersionEvidence(order: [to, from], mappings: [file])
        let error = try failure { try self.history(at: path, evidence: stated) }
        #expect(error.code == .invalidRequest && error.message.contains("state the order of the versions"))
    }

    @Test("the version of a store to be migrated comes before the target if nothing else orders them")
    func stores() throws {
        let path = try writeBundle(Self.made)
        let last = "MultiassetUserDataModel_v11"
        func names(from store: String, to target: String) throws -> [String] {
            try history(
                at: path, evidence: VersionEvidence(storeModel: model(at: path, version: store), target: target)
            ).versions.map(\.name)
        }
        #expect(try names(from: "UserDataModel", to: last).first == "UserDataModel")
        let byNames = try history(at: path).versions.map(\.name)
        // By its name, the target is older than the store's version, so the store does not affect the order.
        #expect(try names(from: last, to: "MultiassetUserDataModel_v2") == byNames)
        let reasons = try history(
            at: path,
            evidence: VersionEvidence(
                storeModel: model(at: path, version: "UserDataModel"), target: "MultiassetUserDataModel")
        ).orderReasons
        #expect(reasons.first == "a store is to be migrated to the newer version")
    }

    @Test("a mapping model may contradict the alphabet, but not numbers in version names")
    func numbers() throws {
        let path = try writeBundle(["Model 3", "Model 10", "Model draft", "Model beta"])
        func names(from: String, to: String) throws -> [String] {
            let mapping = try MappingModel.inferred(
                from: model(at: path, version: from), to: model(at: path, version: to))
            try directory.write(Array(mapping.document()), to: "m.roostmapping.json")
            return try history(
                at: path,
                evidence: VersionEvidence(mappings: [directory.file("m.roostmapping.json") + "@\(from)..\(to)"])
            ).versions.map(\.name)
        }
        #expect(try history(at: path).versions.map(\.name) == ["Model 3", "Model 10", "Model beta", "Model draft"])
        let error = try failure { try names(from: "Model 10", to: "Model 3") }
        #expect(error.code == .invalidRequest && error.message.contains("later version"))
        #expect(try names(from: "Model draft", to: "Model beta").suffix(2) == ["Model draft", "Model beta"])
    }

    @Test("versions that are named like the current one come last")
    func namesLikeCurrent() throws {
        let path = try writeBundle(["A 1", "B 1", "A 2", "C"], current: "A 2")
        let history = try history(at: path)
        #expect(history.versions.map(\.name) == ["B 1", "C", "A 1", "A 2"])
        #expect(history.orderReasons[1] == "the newer version is named like the current version")
    }

    @Test("a version whose name only adds a word to the current version's name comes first")
    func continuedNames() throws {
        let path = try writeBundle(["Notes", "Notes old"], current: "Notes")
        let history = try history(at: path)
        #expect(history.versions.map(\.name) == ["Notes old", "Notes"])
        #expect(history.orderReasons == ["the newer version is named like the current version"])
    }

    @Test("the current version comes last among versions without numbers")
    func currentAmongNames() throws {
        let path = try writeBundle(["Model", "Model beta", "Model draft", "Model 2"], current: "Model beta")
        #expect(try history(at: path).versions.map(\.name) == ["Model", "Model 2", "Model draft", "Model beta"])
    }

    @Test("a store to be migrated overrides the alphabet, but not numbers in version names")
    func storeBeforeNames() throws {
        let path = try writeBundle(["Notes", "Notes 2", "Notes old"])
        func names(from store: String, to target: String) throws -> [String] {
            try history(
                at: path, evidence: VersionEvidence(storeModel: model(at: path, version: store), target: target)
            ).versions.map(\.name)
        }
        #expect(try history(at: path).versions.map(\.name) == ["Notes", "Notes 2", "Notes old"])
        #expect(try names(from: "Notes old", to: "Notes 2") == ["Notes", "Notes old", "Notes 2"])
        #expect(try names(from: "Notes 2", to: "Notes") == ["Notes", "Notes 2", "Notes old"])
    }

    @Test("a circle of mapping models is refused, and the error names the last one")
    func circle() throws {
        let path = try writeBundle(["A", "B", "C"])
        func file(from: String, to: String) throws -> String {
            let mapping = try MappingModel.inferred(
                from: model(at: path, version: from), to: model(at: path, version: to))
            let name = "\(from)\(to).roostmapping.json"
            try directory.write(Array(mapping.document()), to: name)
            return directory.file(name) + "@\(from)..\(to)"
        }
        let files = [try file(from: "B", to: "A"), try file(from: "C", to: "B"), try file(from: "A", to: "C")]
        #expect(
            try history(at: path, evidence: VersionEvidence(mappings: Array(files.prefix(2)))).versions.map(\.name) == [
                "C", "B", "A",
            ])
        let error = try failure { try history(at: path, evidence: VersionEvidence(mappings: files)) }
        #expect(error.code == .invalidRequest && error.message.contains("AC.roostmapping.json"))
    }

    @Test("a bundle of 1 500 versions is ordered by the same rules")
    func manyVersions() throws {
        for index in 1...1500 {
            try directory.write("", to: "Many.xcdatamodeld/\(index % 2 == 0 ? "A" : "B") \(index).xcdatamodel/contents")
        }
        try directory.write(
            "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>A 2.xcdatamodel</string></dict></plist>",
            to: "Many.xcdatamodeld/.xccurrentversion")
        let names = try CoreDataModelReader.versions(at: directory.file("Many.xcdatamodeld"))
        #expect(names.count == 1500 && names.first == "B 1" && names[749] == "B 1499" && names[750] == "A 2")
    }

    #if SQLite
        @Test("a store of a bundle's first version is migrated to its last version")
        func migrates() throws {
            let path = try writeBundle(Self.made)
            let last = "MultiassetUserDataModel_v11"
            let old = try model(at: path, version: "UserDataModel")
            let source = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: old)
            var changes = ChangeSet(model: old)
            try changes.insert(ObjectID("Item", key: 1), values: ["a1": .string("kept")])
            _ = try source.commit(changes)
            let target = try model(at: path, version: last)
            let destination = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: target)
            func migrate(_ evidence: VersionEvidence) throws -> MigrationReport {
                let options = MigrationOptions(history: try history(at: path, evidence: evidence))
                return try MigrationManager(registry: .standard).migrate(
                    from: .store(source), to: .store(destination), model: target, options: options)
            }
            // By the names of the versions, the store is newer than the target.
            let error = try failure { try migrate(VersionEvidence()) }
            #expect(error.code == .newerModelVersion && error.message.contains("--versions"))
            _ = try migrate(VersionEvidence(storeModel: old, target: last))
            #expect(try destination.snapshot().objects("Item")[1]?["a1"] == .string("kept"))
        }
    #endif
}
