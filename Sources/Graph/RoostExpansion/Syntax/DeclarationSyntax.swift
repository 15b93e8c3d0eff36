#if Macros
    /// A piece of a declaration's text.
    struct SyntaxText: Equatable {
        let text: String
        let byteOffset: Int
    }

    /// An attribute of a declaration, such as `@Relationship(inverse: \Album.artist)`.
    struct AttributeSyntax: Equatable {
        struct Argument: Equatable {
            let label: String?
            let value: SyntaxText
        }

        /// The name without a module prefix.
        let name: String
        let byteOffset: Int
        let arguments: [Argument]

        func argument(_ label: String) -> SyntaxText? { arguments.first { $0.label == label }?.value }
    }

    /// The attributes and modifiers at the beginning of a declaration.
    struct DeclarationHead: Equatable {
        var attributes: [AttributeSyntax] = []
        var modifiers: [String] = []

        func attribute(_ name: String) -> AttributeSyntax? { attributes.first { $0.name == name } }
    }

    /// A declaration of a variable or a constant.
    struct VariableSyntax: Equatable {
        enum Accessors: Equatable { case none, computed, observers }

        var head: DeclarationHead
        let isConstant: Bool
        /// The name, including any backticks.
        let name: SyntaxText
        let type: SyntaxText?
        let initialValue: SyntaxText?
        let accessors: Accessors
        /// Whether the declaration has more than one variable, or a pattern instead of a name.
        let isPattern: Bool
        /// The bytes of the declaration in the file.
        let range: Range<Int>
        /// Whether the declaration is between `#if` and `#endif`.
        let isConditional: Bool
    }

    /// A type, or another declaration that is read like a type.
    struct TypeSyntax: Equatable {
        var head: DeclarationHead
        /// The keyword before the name, such as `class`, `struct` or `func`.
        let keyword: String
        let name: SyntaxText
        let isGeneric: Bool
        let inherited: [SyntaxText]
        let variables: [VariableSyntax]
    }
#endif
