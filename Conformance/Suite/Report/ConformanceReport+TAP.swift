extension ConformanceReport {
    /// Returns a result as a test point, with a block of diagnostics unless it passed.
    ///
    /// An excluded check has the TAP directive `todo`, so it does not count as a failure.
    func tap(_ result: ConformanceResult, number: Int) -> String {
        let name = Self.escaped("\(result.store): \(result.check.id)")
        var fields = [("behavior", Self.quoted(result.check.behavior))]
        func tell(_ failure: ConformanceFailure) {
            fields += [("expected", Self.quoted(failure.expected)), ("actual", Self.quoted(failure.actual))]
        }
        fields.append(("duration_ms", Self.milliseconds(result)))
        let point: String
        switch result.outcome {
        case .passed: return "ok \(number) - \(name)\n"
        case .passedAsOpposite(let capability):
            return "ok \(number) - \(name) (opposite: no \(Self.escaped("\(capability)")))\n"
        case .excluded(let exclusion, let failure):
            point = "not ok \(number) - \(name) # todo \(Self.escaped(exclusion.reason))"
            tell(failure)
        case .failed(let failure):
            point = "not ok \(number) - \(name)"
            tell(failure)
        }
        return "\(point)\n  ---\n\(fields.map { "  \($0): \($1)\n" }.joined())  ...\n"
    }

    /// Returns the end of an interrupted run: the counts as comments, and a bail-out.
    func tapBailOut() -> String {
        resultsByStore.map { store, results in
            "# \(Self.escaped(store)): \(ConformanceCounts(results))\n"
        }.joined() + "Bail out! \(Self.interruption)\n"
    }

    /// Returns a text on one line, with backslashes and `#` escaped.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "#": result += "\\#"
            case _ where character.isNewline: result += " "
            default: result.append(character)
            }
        }
        return result
    }

    /// Returns a text as a YAML scalar in double quotes.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            // Control characters, line separators and other characters that YAML must escape.
            case _
            where scalar.properties.generalCategory == .control || [0x2028, 0x2029, 0xFEFF].contains(scalar.value),
                _ where scalar.value & 0xFFFE == 0xFFFE:
                let digits = String(scalar.value, radix: 16)
                result += "\\U" + String(repeating: "0", count: 8 - digits.utf8.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
