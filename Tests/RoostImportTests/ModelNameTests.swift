import RoostImport
import Testing

@Suite("Names of an inferred model")
struct ModelNameTests {
    @Test("are those of the columns where a model can have them")
    func kept() {
        var names = ModelNames()
        #expect(names.name(for: "Album Title", orElse: "column1") == "Album Title")
        #expect(names.name(for: " naïve ", orElse: "column2") == "naïve")
    }

    @Test(
        "have no separators of paths and no control characters",
        arguments: [("a.b", "a_b"), ("a/b#c", "a_b_c"), ("a\tb", "a_b")])
    func separators(text: String, name: String) {
        var names = ModelNames()
        #expect(names.name(for: text, orElse: "column1") == name)
    }

    @Test("are never names that every object has, and entities can have them")
    func reserved() {
        var names = ModelNames()
        #expect(names.name(for: "entity", orElse: "column") == "entity_2")
        var entities = ModelNames(ofProperties: false)
        #expect(entities.name(for: "entity", orElse: "table") == "entity")
    }

    @Test("get a number when they are taken, also in another case")
    func taken() {
        var names = ModelNames()
        #expect(
            ["id", "ID", "", ""].map { names.name(for: $0, orElse: "column") } == ["id", "ID_2", "column", "column_2"])
    }
}
