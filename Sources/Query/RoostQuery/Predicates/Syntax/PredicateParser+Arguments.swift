internal import Foundation
internal import RoostCore

extension PredicateParser {
    /// Returns the argument for the current token, which is a placeholder such as `%@`.
    mutating func argument(_ letters: String) throws(StoreError) -> PredicateSyntax.Operand {
        let place = token.position
        let expression = try nextArgument()
        try advance()
        switch letters.last {
        case "@":
            if let operand = PredicateSyntax.Operand(argument: expression, place: place) { return operand }
        case "d", "i", "u", "x", "X":
            if case .constant(.int(let number)) = expression { return .literal(.typed(.int(number)), place) }
            if case .constant(.decimal(let number)) = expression, letters.contains("u"), number.isSignMinus == false {
                return .literal(.typed(.decimal(number)), place)
            }
        case "f", "g", "e":
            switch expression {
            case .constant(.int(let number)): return .literal(.typed(.int(number)), place)
            case .constant(.double(let number)): return .literal(.typed(.double(number)), place)
            case .constant(.decimal(let number)): return .literal(.typed(.decimal(number)), place)
            default: break
            }
        case "s":
            if case .constant(.string(let text)) = expression { return .literal(.typed(.string(text)), place) }
        default:
            if case .constant(.string(let text)) = expression, text.count == 1 {
                return .literal(.typed(.string(text)), place)
            }
        }
        throw wrongKind(letters, at: place)
    }

    mutating func keyPathArgument() throws(StoreError) -> [String] {
        let place = token.position
        let argument = try nextArgument()
        guard case .constant(.string(let text)) = argument else { throw wrongKind("K", at: place) }
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.allSatisfy({ !$0.isEmpty }) else {
            let name = tokenizer.isInterpolated ? PredicateText.Mark.key : "%K"
            throw tokenizer.error(
                at: place, message: "The argument of '\(name)' is not a key path: it is empty, or has an empty part.")
        }
        try advance()
        return names
    }

    private mutating func nextArgument() throws(StoreError) -> FetchRequest.Expression {
        guard usedArguments < arguments.count else {
            throw tokenizer.error(
                at: token.position,
                message:
                    "The argument for \(token.description) is missing; the number of arguments is \(arguments.count)."
            )
        }
        defer { usedArguments += 1 }
        return arguments[usedArguments].predicateExpression
    }

    private func wrongKind(_ letters: String, at place: String.Index) -> StoreError {
        let wanted =
            switch letters.last {
            case "@": "a value or a list of values"
            case "K": "a key path as a string"
            case "d", "i", "u", "x", "X": "a whole number"
            case "f", "g", "e": "a number"
            case "s": "a string"
            default: "a string of one character"
            }
        guard !tokenizer.isInterpolated else {
            return tokenizer.error(
                at: place,
                message:
                    "'\(PredicateText.Mark.text)' takes \(wanted). Interpolate the name of a property as \(PredicateText.Mark.key)."
            )
        }
        return tokenizer.error(
            at: place, message: "Argument \(usedArguments) does not fit '%\(letters)', which takes \(wanted).")
    }
}

extension PredicateSyntax.Operand {
    /// Creates an operand from a constant or a list of constants; nil for any other expression.
    fileprivate init?(argument: FetchRequest.Expression, place: String.Index) {
        switch argument {
        case .constant(let value): self = .literal(.typed(value), place)
        case .aggregate(let members):
            var operands: [Self] = []
            for member in members {
                guard case .constant(let value) = member else { return nil }
                operands.append(.literal(.typed(value), place))
            }
            self = .aggregate(operands)
        default: return nil
        }
    }
}
