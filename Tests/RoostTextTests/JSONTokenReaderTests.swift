import RoostCore
import RoostJSONText
import RoostText
import Testing

/// Creates a reader of a text that comes in chunks of `chunk` bytes.
func makeReader(
    _ bytes: [UInt8], chunk: Int, syntax: JSONTokenizer.Syntax = .json, computesChecksum: Bool = false
) -> JSONTokenReader {
    var rest = bytes[...]
    return JSONTokenReader(name: "text", syntax: syntax, computesChecksum: computesChecksum) { buffer in
        let next = rest.prefix(min(chunk, buffer.count))
        rest = rest.dropFirst(next.count)
        buffer.copyBytes(from: next)
        return next.count
    }
}

@Suite("Token readers of JSON texts")
struct JSONTokenReaderTests {
    private func failure(_ text: String, code: StoreError.Code) -> StoreError? {
        var reader = JSONTokenReader(Array(text.utf8), name: "a file", errorCode: code)
        do throws(StoreError) { while try reader.next() != .end {} } catch { return error }
        return nil
    }

    @Test("a syntax error has the text's name, its position and the reader's code")
    func namesTextAndPosition() throws {
        let error = try #require(failure("[1,\n x]", code: .invalidModel))
        #expect(error.code == .invalidModel)
        #expect(error.message == "a file, line 2, column 2: a value is expected.")
    }

    @Test("a key that is too long throws limitExceeded, whatever the reader's code")
    func limitsKeyLength() throws {
        let key = String(repeating: "k", count: 1 << 21)
        let error = try #require(failure("{\"\(key)\": 1}", code: .invalidModel))
        #expect(error.code == .limitExceeded)
    }

    @Test("an error of a reader's source passes through unchanged")
    func passesSourceError() {
        var reader = JSONTokenReader(name: "text") { (_) throws(StoreError) in
            throw StoreError(.cancelled, "The reading was cancelled.")
        }
        do throws(StoreError) {
            _ = try reader.next()
            Issue.record("a text was read although its source failed")
        } catch {
            #expect(error.code == .cancelled)
            #expect(error.message == "The reading was cancelled.")
        }
    }

    @Test("a source that returns more bytes than requested throws internalInconsistency")
    func refusesOverlongRead() {
        var reader = JSONTokenReader(name: "text") { $0.count + 1 }
        do throws(StoreError) {
            _ = try reader.next()
            Issue.record("a source that returned too many bytes was accepted")
        } catch {
            #expect(error.code == .internalInconsistency)
        }
    }

    @Test("an error for the current token has the token's position and a final period or question mark")
    func positionsCallerError() throws {
        var reader = makeReader(Array("[1, 1.5, 99999999999999999999]".utf8), chunk: 3)
        try reader.expect(.beginArray, "a list")
        #expect(try reader.nextElement())
        #expect(
            reader.error("one thing; did you mean 'x'?").message
                == "text, line 1, column 2: one thing; did you mean 'x'?")
        #expect(reader.mismatch("a string").message == "text, line 1, column 2: a string is expected, not a number.")
        #expect(try reader.nextElement())
        #expect(
            reader.integerMismatch("a key").message
                == "text, line 1, column 5: a key is expected, and a number with a fraction or an exponent was found."
        )
        #expect(try reader.nextElement())
        #expect(
            reader.integerMismatch("a key").message
                == "text, line 1, column 10: a key is expected, and the number here is out of range.")
    }

    @Test("the checksum before a token is the wide hash of the preceding bytes")
    func computesChecksum() throws {
        let text = Array("{\"long\": \"é\",\n \"checksum\": 0}".utf8)
        var reader = makeReader(text, chunk: 5, computesChecksum: true)
        try reader.expect(.beginObject, "an object")
        #expect(try reader.nextKey())
        try reader.skipValue()
        #expect(try reader.nextKey())
        let wide = RecordHash.wide(Array(text.prefix(reader.tokenByteOffset)))
        let value = reader.checksumBeforeToken()
        #expect(try #require(value) == wide)
    }
}
