import Foundation
import RoostCore
import RoostJSON
import Testing

@Suite("What a JSON store writes it can read")
struct LimitTests {
    @Test("a document with metadata of any size is read: no commit refuses them")
    func hugeMetadata() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        try store.close()
        // Space within the value, which costs as little as can be to write and to read.
        try bench.edit("store", "\"metadata\": {", "\"metadata\": {" + String(repeating: " ", count: 65 << 20))
        let again = try bench.open(readOnly: true)
        #expect(try again.metadata().userMetadata == ["place": .string("shelf")])
        try again.close()
    }
}
