extension FetchRequest {
    /// An expression that has one or many values for each object.
    public indirect enum Expression: Hashable, Sendable {
        /// The same value for every object.
        case constant(Value)
        /// The object itself, as its ID.
        case evaluatedObject
        /// `$name`: the variable of ``subquery(_:variable:_:)``, or a variable that is replaced by
        /// a value before a fetch.
        case variable(String)
        /// A path of property names from the object to one or many values or objects.
        ///
        /// The path may contain relationships, composites, and a ``CollectionOperator`` such as
        /// `@count`.
        case keyPath([String])
        /// A key path that starts at the value of an expression.
        case path(of: Expression, [String])
        /// `{a, b}`: several values.
        case aggregate([Expression])
        /// A built-in function or an arithmetic operation.
        case function(Function, [Expression])
        /// `FUNCTION(target, "name", …)`: a function that the program registered as `name`.
        ///
        /// The function's first argument is the target.
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
        /// `a UNION b`, `a INTERSECT b`, `a MINUS b`: a collection that contains each element once.
        case setOperation(SetOperation, Expression, Expression)
    }

    /// The choice of an element in a list.
    public indirect enum Index: Hashable, Sendable {
        /// The first element; null for an empty list.
        case first
        /// The last element; null for an empty list.
        case last
        /// Not an element, but the number of elements.
        case size
        /// The element at a position from 0; null if out of range.
        case position(Expression)
    }

    /// An operation on two collections.
    public enum SetOperation: String, Hashable, Sendable, CaseIterable {
        /// The elements that are in at least one of the collections.
        case union = "UNION"
        /// The elements that are in both collections.
        case intersect = "INTERSECT"
        /// The elements of the first collection that are not in the second.
        case minus = "MINUS"
    }

    /// An operation on the values of a key path.
    public enum CollectionOperator: String, Hashable, Sendable, CaseIterable {
        /// The number of values, including nulls.
        case count = "@count"
        /// The sum, ignoring nulls; 0 if nothing remains.
        case sum = "@sum"
        /// The mean, ignoring nulls; null if nothing remains.
        case average = "@avg"
        /// The minimum, ignoring nulls; null if nothing remains.
        case minimum = "@min"
        /// The maximum, ignoring nulls; null if nothing remains.
        case maximum = "@max"
        /// All values except nulls.
        case union = "@unionOfObjects"
        /// Each distinct value once, ignoring nulls.
        case distinctUnion = "@distinctUnionOfObjects"
    }

    /// The types to which `CAST` converts, with the class names of Core Data.
    public enum CastType: String, Hashable, Sendable, CaseIterable {
        /// A number.
        case number = "NSNumber"
        /// A decimal number.
        case decimal = "NSDecimalNumber"
        /// Text.
        case string = "NSString"
        /// A date. A number is converted as seconds since 2001-01-01.
        case date = "NSDate"
        /// Data. Text is decoded as base64.
        case data = "NSData"
        /// A UUID.
        case uuid = "NSUUID"
        /// A URI.
        case uri = "NSURL"
        /// An object. Text has the form `Album/5`.
        case objectID = "NSManagedObjectID"
    }

    /// The built-in functions, without side effects.
    ///
    /// Functions of many values ignore nulls, but ``count`` includes them. Other functions return
    /// null if an argument is null.
    public enum Function: String, Hashable, Sendable, CaseIterable {
        /// `a + b`. A number is added to a date as seconds.
        case add = "add:to:"
        /// `a - b`. The difference of two dates is in seconds.
        case subtract = "from:subtract:"
        /// `a * b`.
        case multiply = "multiply:by:"
        /// `a / b`, never rounded to a whole number.
        case divide = "divide:by:"
        /// `a ** b`.
        case power = "raise:toPower:"
        /// `-a`.
        case negate = "negate"
        /// The remainder of a division, with the sign of the dividend.
        case modulus = "modulus:by:"
        /// The sum, ignoring nulls; 0 if nothing remains.
        case sum
        /// The number of values, including nulls.
        case count
        /// The minimum.
        case minimum = "min"
        /// The maximum.
        case maximum = "max"
        /// The mean.
        case average
        /// The median; for an even number of values, the mean of the two middle values.
        case median
        /// The most frequent value; of equally frequent values, the lowest.
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
        /// The argument rounded down to a whole number.
        case floor
        /// The argument rounded up to a whole number.
        case ceiling
        /// The absolute value.
        case absolute = "abs"
        /// The argument rounded toward zero.
        case truncate = "trunc"
        /// Text in upper case, by Unicode.
        case uppercase
        /// Text in lower case, by Unicode.
        case lowercase
        /// Text without case and diacritics, as in comparisons with `[cd]`.
        case canonical
        /// The number of Unicode code points in a text.
        case length = "length"
        /// The time of the fetch, the same for all objects.
        case now
        /// The bits that are set in both arguments.
        case bitwiseAnd = "bitwiseAnd:with:"
        /// The bits that are set in either argument.
        case bitwiseOr = "bitwiseOr:with:"
        /// The bits that are set in exactly one argument.
        case bitwiseXor = "bitwiseXor:with:"
        /// The bits shifted to the left.
        case leftShift = "leftshift:by:"
        /// The bits shifted to the right; the sign is preserved.
        case rightShift = "rightshift:by:"
        /// All bits inverted.
        case onesComplement
        /// The argument itself; prevents the use of an index.
        case noIndex = "noindex"
    }
}
