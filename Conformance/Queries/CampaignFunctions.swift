internal import Foundation
internal import RoostCore
internal import RoostQuery

/// Functions that stores and ``PlainFetch`` call in random requests.
enum CampaignFunctions {
    typealias Function = @Sendable ([Value]) -> Value

    /// The name of a function that computes a small number from a text.
    static let number = "roostCampaignNumber"
    /// The name of a function that reverses a text.
    static let text = "roostCampaignText"
    /// The name of a function that returns a regular expression for texts with a given prefix.
    static let pattern = "roostCampaignPattern"

    static let all: [String: Function] = [
        number: { arguments in
            guard let text = text(of: arguments) else { return .null }
            return .int(Int64(text.unicodeScalars.count * 3 % 11) - 4)
        },
        text: { arguments in
            guard let text = text(of: arguments) else { return .null }
            return .string(String(String.UnicodeScalarView(text.unicodeScalars.reversed())))
        },
        pattern: { arguments in
            guard let text = text(of: arguments) else { return .null }
            return .string(NSRegularExpression.escapedPattern(for: text) + "(?s:.*)")
        },
    ]

    /// Registers the functions for stores; further calls do nothing.
    static func register() throws(StoreError) { try registration.get() }

    private static let registration: Result<Void, StoreError> = {
        do throws(StoreError) {
            for (name, function) in all {
                try RegisteredFunction.register(
                    name, argumentCount: 2, returning: name == number ? .integer64 : .string, function)
            }
            return .success(())
        } catch { return .failure(error) }
    }()

    /// Returns the text of the last argument; the first is the target of the call.
    private static func text(of arguments: [Value]) -> String? {
        switch arguments.last {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }
}
