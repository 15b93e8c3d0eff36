#if Macros
    public import RoostCore
    public import RoostGraph

    /// A class with the macro `@Model`, which derives an entity from the class.
    ///
    /// The macro adds the conformance.
    public protocol ModelClass: ManagedObjectClass {
        /// The class's entity and properties.
        static var modelDescription: ModelDescription { get }
    }

    extension ModelClass {
        /// The entity of the class.
        public static var entityName: EntityName { modelDescription.entityName }

        /// The properties of the class, inherited properties first.
        public static var shape: ClassShape {
            ClassShape(entityName, properties: modelDescription.allProperties.map(\.shape))
        }

        /// Returns the name of the property at a key path, or nil if no property has it.
        public static func propertyName(of keyPath: AnyKeyPath) -> String? {
            modelDescription.propertyName(of: keyPath)
        }
    }
#endif
