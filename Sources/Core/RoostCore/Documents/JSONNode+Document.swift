package import RoostJSONText

extension JSONNode {
    /// Reads a whole document as a tree.
    ///
    /// The message of an error starts with `noun`, such as `The model document`. The error of
    /// invalid text has the code `code`.
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
