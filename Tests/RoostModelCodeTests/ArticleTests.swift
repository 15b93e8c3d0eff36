import Foundation
import RoostCore
import RoostModelCode
import Testing

/// Compares `docs/model-classes.md` with generated code.
@Suite("The article about model classes")
struct ArticleTests {
    private let page: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        page = try String(contentsOf: root.appendingPathComponent("docs/model-classes.md"), encoding: .utf8)
    }

    private func blocks(_ language: String, in text: String) -> [String] {
        text.components(separatedBy: "```\(language)\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    @Test("the article about model classes quotes the code that its model generates")
    func quotations() throws {
        let document = try #require(blocks("json", in: page).first)
        let model = try ManagedObjectModel(document: Array(document.utf8))
        let code = ModelCode(model, source: "Music.roostmodel.json")
        let text = try #require(try code.files(.singleFile).first)
        #expect(text.name == "Music+Classes.swift")
        let section = page.components(separatedBy: "## The generated code")[1].components(separatedBy: "### The model")[
            0]
        let quotations = blocks("swift", in: section)
        #expect(quotations.count == 3)
        for quotation in quotations { #expect(text.text.contains(quotation)) }
        for file in try code.files(.perEntity) { #expect(page.contains("`\(file.name)`")) }
        #expect(page.contains("## Files to commit"))
    }

    @Test("the article about model classes quotes the Notes example's class with hooks")
    func hooks() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let example = root.appendingPathComponent("Examples/Notes/Sources/NotesModel")
        let section = page.components(separatedBy: "## Classes with hooks")[1].components(separatedBy: "\n## ")[0]
        let (code, json) = try (
            #require(blocks("swift", in: section).first), #require(blocks("json", in: section).first)
        )
        let own = try String(contentsOf: example.appendingPathComponent("Note.swift"), encoding: .utf8)
        let model = try String(contentsOf: example.appendingPathComponent("Notes.roostmodel.json"), encoding: .utf8)
        #expect(own.contains(code))
        #expect(model.contains(json.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test("the article about model classes lists the names that properties of classes cannot have")
    func names() {
        for name in NameTests.members { #expect(page.contains("`\(name)`")) }
    }
}
