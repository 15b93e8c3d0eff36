internal import Foundation
internal import RoostCore
internal import RoostQuery

/// The functions of a program that random requests call: registered for stores, and known to plain
/// evaluation.
enum CampaignFunctions {
    typealias Function = @Sendable ([Value]) -> Value

    /// A small number that follows from a text.
    static let number = "roostCampaignNumber"
    /// A text backwards.
    static let text = "roostCampaignText"
    /// A regular expression that fits what starts with a text.
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

    /// Makes them known to stores; again and again for nothing.
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

    /// Returns the text of the last argument, which follows the target.
    private static func text(of arguments: [Value]) -> String? {
        switch arguments.last {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }
}
