import RoostCore
import RoostText
import Testing

@Suite("JSON token reader")
struct JSONTokenReaderTests {
    @Test("gives the tokens of a text in order")
    func tokens() throws {
        var reader = JSONTokenReader(Array(#"{"a": [1, true, "x\n"], "b": null}"#.utf8), name: "text")
        var tokens: [JSONTokenReader.Token] = []
        while try reader.next() != .end { tokens.append(reader.token) }
        #expect(
            tokens == [
                .beginObject, .key, .beginArray, .number, .true, .string, .endArray, .key, .null, .endObject,
            ])
    }
}
