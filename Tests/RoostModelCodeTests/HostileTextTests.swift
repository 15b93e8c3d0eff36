import Foundation
import RoostCore
import RoostModelCode
import Testing

@Suite("Hostile texts in models")
struct HostileTextTests {
    private static let texts = [
        "\"", "\\", "\n", "\r\n", "\\(fatalError())", "\"\"\"", "\"\"\"#", "##\"\"\"###", "\\#(1)", "\\##(1)", "#",
        "`", "*/", "/*", "//", "\u{0}", "\u{2028}", "\u{202E}", "\u{FEFF}", "'", "\t", "#if", "\"#", "\\u{41}",
    ]

    /// Returns a model with `text` in every place where a model accepts any text.
    private func model(_ text: String) throws -> ManagedObjectModel {
        var title = AttributeDescription.string("title")
        title.defaultValue = .string(text)
        title.userInfo = [text: text]
        title.versionHashModifier = text
        title.renamingIdentifier = "old"
        var thing = EntityDescription("Thing", attributes: [title])
        thing.userInfo = ["documentation": text]
        return try ManagedObjectModel(entities: [thing], versionIdentifiers: [text], userInfo: [text: text])
    }

    @Test(
        "the document in generated code decodes to the same model, whatever its texts contain",
        .enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"))
    func documents() throws {
        let model = try model(Self.texts.joined())
        let texts = try Samples.texts(model)
        try SwiftCompiler.expectValid(texts)
        let program = "@main enum Program { static func main() { print(MusicModel.document, terminator: \"\") } }"
        let document = try SwiftCompiler.output(of: texts + [program])
        #expect(document.contains("\"renamingIdentifier\": \"old\""))
        #expect(try ManagedObjectModel(document: Array(document.utf8)) == model)
    }

    @Test(
        "generated code with one hostile text passes the type checker",
        .enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"), arguments: texts)
    func document(text: String) throws {
        try SwiftCompiler.expectValid(Samples.texts(model(text), layout: .singleFile))
    }

    @Test(
        "hostile names of entities and model files do not end comments and literals",
        .enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"),
        arguments: ["\"", "\\(x)", "a`b", "* *", "\u{2028}class X {}", "\"\"\"", "\u{202E}"])
    func names(text: String) throws {
        var thing = EntityDescription(text, attributes: [.string("title")])
        thing.managedObjectClassName = "Thing"
        let model = try ManagedObjectModel(entities: [thing])
        try SwiftCompiler.expectValid(Samples.texts(model, source: "\(text)\nclass Y {}.json"))
    }

    @Test(
        "a transformable attribute whose value class is not a Swift type is refused",
        arguments: [
            "Int = 5; let x", "[Int", "Int]", "A B", "() -> Int", "A.", "<A>", "A<", "", "1", "A?", "A\n", "[A:]",
        ]
    )
    func valueClass(text: String) throws {
        var cover = AttributeDescription("cover", type: .transformable)
        cover.attributeValueClassName = text
        let model = try ManagedObjectModel(entities: [EntityDescription("Thing", attributes: [cover])])
        #expect(try Samples.message(model).contains("is not a Swift type. Change or remove"))
    }

    @Test(
        "the value class of a transformable attribute can be any type",
        arguments: ["Cover", "Music.Cover", "[Cover]", "[String: [Cover?]]", "Set<Cover>", "Pair<A.B, [C]>"])
    func goodValueClass(text: String) throws {
        var cover = AttributeDescription("cover", type: .transformable)
        cover.attributeValueClassName = text
        let model = try ManagedObjectModel(entities: [EntityDescription("Thing", attributes: [cover])])
        #expect(
            try Samples.texts(model, layout: .singleFile)[0].contains(
                "    var cover: \(text)? {\n        get { coded(slot: 0) }"))
    }
}
