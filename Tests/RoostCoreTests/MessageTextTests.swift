import Testing

@testable import RoostCore

@Suite("Messages of bounded size")
struct MessageTextTests {
    @Test("a message of ordinary length stays as it is")
    func short() {
        for text in ["", "a", String(repeating: "word ", count: 10_000), String(repeating: "ä", count: 500)] {
            #expect(MessageText.bounded(text) == text)
        }
    }

    @Test("a message keeps the beginning and end of a long word, in whole characters")
    func words() {
        let word = String(repeating: "äöü😀", count: 100_000)
        let text = MessageText.bounded("The entity '\(word)' is unknown;  did\n  you mean\nthis? \(word)")
        #expect(text.hasPrefix("The entity 'äöü😀") && text.hasSuffix("äöü😀"))
        #expect(text.contains("' is unknown;  did\n  you mean\nthis? äöü"))
        #expect(!text.unicodeScalars.contains("\u{FFFD}"))
        #expect(text.utf8.count < 1400 && text.contains(" bytes)…"))
        let path = "/" + String(repeating: "directory/", count: 300) + "store.sqlite"
        #expect(MessageText.bounded(path).hasSuffix("/store.sqlite"))
    }

    @Test("a message of many short words keeps its beginning and its end")
    func texts() {
        let text = MessageText.bounded(
            "Begin. " + String(repeating: "a name with spaces ", count: 200_000) + "The end.")
        #expect(text.hasPrefix("Begin. a name") && text.hasSuffix("with spaces The end."))
        #expect(text.utf8.count <= MessageText.maximumByteCount)
    }

    @Test("every error's message has a bounded size")
    func errors() {
        let name = String(repeating: "n", count: 3_000_000)
        #expect(StoreError(.notFound, "'\(name)' is missing.").message.utf8.count < 1000)
        #expect(ModelProblem(entity: name, property: name, message: name).description.utf8.count < 2000)
    }

    @Test("an error for 100,000 model problems lists the first and counts the rest")
    func problems() {
        let problems = (0..<100_000).map { ModelProblem(entity: "E", property: "p\($0)", message: "It is wrong.") }
        let message = StoreError.invalidModel(problems).message
        #expect(message.utf8.count <= MessageText.maximumByteCount)
        #expect(message.contains("\n  E.p0: It is wrong.\n  E.p1: ") && message.hasSuffix(" more problems."))
        let few = StoreError.invalidModel(Array(problems.prefix(500))).message
        #expect(few.split(separator: "\n").count == 501)
    }

    @Test("a model with a name that is too long reports no other problems")
    func longNames() {
        let name = String(repeating: "n", count: 256)
        let entity = EntityDescription(
            name, attributes: [AttributeDescription("a", type: .undefined), AttributeDescription(name, type: .string)])
        let problems = ManagedObjectModel.problems(entities: [entity])
        #expect(
            problems.map(\.message) == [
                "The entity's name is longer than 255 bytes.", "The property's name is longer than 255 bytes.",
            ])
        let element = EntityDescription(
            "E",
            attributes: [
                AttributeDescription("a", type: .composite, elements: [AttributeDescription(name, type: .string)])
            ])
        #expect(ManagedObjectModel.problems(entities: [element]).count == 1)
    }

    @Test("a name in a model may have 255 bytes")
    func longestName() throws {
        let name = String(repeating: "n", count: 255)
        let entity = EntityDescription(name, attributes: [AttributeDescription("a", type: .string)])
        _ = try ManagedObjectModel(entities: [entity])
    }

    @Test("a huge name in a document gives a message of bounded size")
    func hugeNameInDocument() {
        let huge = String(repeating: "n", count: 1_000_000)
        let document = "{\"formatVersion\": 1, \"entities\": {\"\(huge)\": {\"attributes\": {\"a\": {\"typ\": 1}}}}}"
        do throws(StoreError) {
            _ = try ManagedObjectModel(document: Array(document.utf8))
            Issue.record("a document with a wrong key was read")
        } catch {
            #expect(error.code == .invalidModel && error.message.utf8.count < 3000)
        }
    }
}
