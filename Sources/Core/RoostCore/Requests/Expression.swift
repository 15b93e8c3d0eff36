extension FetchRequest {
    /// Something that has a value, or many values, for each object.
    public indirect enum Expression: Hashable, Sendable {
        /// The same value for every object.
        case constant(Value)
        /// The object itself, as its ID.
        case evaluatedObject
        /// `$name`: the variable of ``subquery(_:variable:_:)``, or one that is replaced by a value
        /// before a fetch.
        case variable(String)
        /// A path of property names from the object to one or many values or objects.
        ///
        /// It goes through relationships, and into composites. It may contain a
        /// ``CollectionOperator`` such as `@count`.
        case keyPath([String])
        /// A key path that starts at the value of an expression instead of the object.
        case path(of: Expression, [String])
        /// `{a, b}`: several values.
        case aggregate([Expression])
        /// One of the functions of the language; arithmetic too.
        case function(Function, [Expression])
        /// `FUNCTION(target, "name", …)`: a function that the program registered under the name;
        /// the target is its first argument.
        case registered(String, [Expression])
        /// `CAST(value, "type")`.
        case cast(Expression, CastType)
        /// `SUBQUERY(collection, $variable, predicate)`: the objects of a collection for which the
        /// predicate is true.
        case subquery(Expression, variable: String, Predicate)
        /// `TERNARY(condition, whenTrue, whenFalse)`.
        case conditional(Predicate, Expression, Expression)
        /// `values[FIRST]`, `[LAST]`, `[SIZE]` or `[n]` of an ordered relationship or a list.
        case element(of: Expression, Index)
        /// `a UNION b`, `a INTERSECT b`, `a MINUS b`: each element once.
        case setOperation(SetOperation, Expression, Expression)
    }

    /// The choice of an element in a list.
    public indirect enum Index: Hashable, Sendable {
        /// The first element; null for an empty list.
        case first
        /// The last element; null for an empty list.
        case last
        /// The number of elements, instead of an element.
        case size
        /// The element at a position from 0; null if out of range.
        case position(Expression)
    }

    /// An operation on two collections.
    public enum SetOperation: String, Hashable, Sendable, CaseIterable {
        /// The elements of one or both.
        case union = "UNION"
        /// The elements of both.
        case intersect = "INTERSECT"
        /// The elements of the first that are not in the second.
        case minus = "MINUS"
    }

    /// An operation on the values of a key path.
    public enum CollectionOperator: String, Hashable, Sendable, CaseIterable {
        /// The number of values, including nulls.
        case count = "@count"
        /// The sum without nulls; 0 for no values.
        case sum = "@sum"
        /// The mean without nulls; null for no values.
        case average = "@avg"
        /// The minimum without nulls; null for no values.
        case minimum = "@min"
        /// The maximum without nulls; null for no values.
        case maximum = "@max"
        /// All values but nulls.
        case union = "@unionOfObjects"
        /// Each distinct value once, without nulls.
        case distinctUnion = "@distinctUnionOfObjects"
    }

    /// The types of `CAST`, by the names of their classes in Core Data.
    public enum CastType: String, Hashable, Sendable, CaseIterable {
        /// A number.
        case number = "NSNumber"
        /// A decimal number.
        case decimal = "NSDecimalNumber"
        /// Text.
        case string = "NSString"
        /// A date; of a number, as seconds since 2001-01-01.
        case date = "NSDate"
        /// Data; of text, as base64.
        case data = "NSData"
        /// A UUID.
        case uuid = "NSUUID"
        /// A URI.
        case uri = "NSURL"
        /// An object; of text, as `Album/5`.
        case objectID = "NSManagedObjectID"
    }

    /// The functions of the language: a closed list, all without side effects.
    ///
    /// A null argument makes the result null, except in the functions over many values, which leave
    /// nulls out.
    public enum Function: String, Hashable, Sendable, CaseIterable {
        /// `a + b`; of a date and a number, as seconds.
        case add = "add:to:"
        /// `a - b`; of two dates, the seconds between them.
        case subtract = "from:subtract:"
        /// `a * b`.
        case multiply = "multiply:by:"
        /// `a / b`: never a whole-number division.
        case divide = "divide:by:"
        /// `a ** b`.
        case power = "raise:toPower:"
        /// `-a`.
        case negate = "negate"
        /// The remainder of a division, with the sign of the dividend.
        case modulus = "modulus:by:"
        /// The sum of values; 0 for no values.
        case sum
        /// The number of values, including nulls.
        case count
        /// The minimum.
        case minimum = "min"
        /// The maximum.
        case maximum = "max"
        /// The mean.
        case average
        /// The value in the middle; the mean of the two in the middle.
        case median
        /// The most frequent value; of several, the lowest.
        case mode
        /// The standard deviation of the whole population.
        case standardDeviation = "stddev"
        /// The square root.
        case squareRoot = "sqrt"
        /// The logarithm to base 10.
        case log
        /// The natural logarithm.
        case naturalLog = "ln"
        /// *e* to a power.
        case exponential = "exp"
        /// The greatest whole number that is not greater.
        case floor
        /// The least whole number that is not less.
        case ceiling
        /// The number without its sign.
        case absolute = "abs"
        /// The whole number on the way to zero.
        case truncate = "trunc"
        /// Text in upper case, by Unicode.
        case uppercase
        /// Text in lower case, by Unicode.
        case lowercase
        /// Text without case and diacritics, as `[cd]` compares it.
        case canonical
        /// The number of Unicode code points in a text.
        case length = "length"
        /// The time of the fetch, the same for all objects of it.
        case now
        /// Bits set in both.
        case bitwiseAnd = "bitwiseAnd:with:"
        /// Bits set in one or both.
        case bitwiseOr = "bitwiseOr:with:"
        /// Bits set in one only.
        case bitwiseXor = "bitwiseXor:with:"
        /// Bits moved to the left.
        case leftShift = "leftshift:by:"
        /// Bits moved to the right, the sign kept.
        case rightShift = "rightshift:by:"
        /// All bits the other way.
        case onesComplement
        /// Its argument; no index is used for it.
        case noIndex = "noindex"
    }
}
