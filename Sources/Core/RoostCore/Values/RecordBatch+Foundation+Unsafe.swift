internal import Foundation

extension RecordBatch {
    mutating func setUUID(_ uuid: UUID, for field: RecordLayout.Field) throws(StoreError) {
        guard field.kind == .uuid else { throw wrongType(field, what: "a UUID") }
        store(uuid.uuid, field: field)
    }

    mutating func setText(_ text: String, for field: RecordLayout.Field) throws(StoreError) {
        var text = text
        var failure: StoreError?
        text.withUTF8 { utf8 in
            do throws(StoreError) { try setBytes(UnsafeRawBufferPointer(utf8), for: field) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    mutating func setData(_ data: Data, for field: RecordLayout.Field) throws(StoreError) {
        var failure: StoreError?
        data.withUnsafeBytes { bytes in
            do throws(StoreError) { try setBytes(bytes, for: field) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
