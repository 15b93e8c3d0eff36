import RoostImport
import Testing

@Suite("Names of an inferred model")
struct ModelNameTests {
    @Test("a column name that a model can have becomes the property's name")
    func kept() {
        var names = ModelNames()
        #expect(names.name(for: "Album Title", orElse: "column1") == "Album Title")
        #expect(names.name(for: " naïve ", orElse: "column2") == "naïve")
    }

    @Test(
        "path separators and control characters in a name become underscores",
        arguments: [("a.b", "a_b"), ("a/b#c", "a_b_c"), ("a\tb", "a_b")])
    func separators(text: String, name: String) {
        var names = ModelNames()
        #expect(names.name(for: text, orElse: "column1") == name)
    }

    @Test("a name that every managed object uses gets a number as a property's name, but not as an entity's name")
    func reserved() {
        var names = ModelNames()
        #expect(names.name(for: "entity", orElse: "column") == "entity_2")
        var entities = ModelNames(ofProperties: false)
        #expect(entities.name(for: "entity", orElse: "table") == "entity")
    }

    @Test("a name that equals an earlier name or differs only in case gets a number")
    func taken() {
        var names = ModelNames()
        #expect(
            ["id", "ID", "", ""].map { names.name(for: $0, orElse: "column") } == ["id", "ID_2", "column", "column_2"])
    }
}
