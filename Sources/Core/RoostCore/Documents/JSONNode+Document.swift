package import RoostJSONText

extension JSONNode {
    /// Reads a whole document as a tree.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - acceptsJSON5: Whether the text may be JSON5.
    ///   - noun: The name of the document at the start of messages, such as `The model document`.
    ///   - code: The code of the error for invalid text.
    /// - Returns: The tree of the text.
    /// - Throws: An error with `code` for invalid text; `limitExceeded`; `outOfResources`. The
    ///   message starts with `noun`.
    package static func document(
        _ text: [UInt8], acceptsJSON5: Bool = false, as noun: String, code: StoreError.Code
    ) throws(StoreError) -> JSONNode {
        do throws(JSONSyntaxError) {
            return try JSONNode(text, acceptsJSON5: acceptsJSON5)
        } catch {
            throw StoreError(error, prefix: "\(noun) is not valid JSON: ", code: code)
        }
    }
}
