#if Macros
    public import RoostCore
    public import RoostGraph

    /// A class with `@Model`, which is the source of its entity.
    ///
    /// The macro adds the conformance.
    public protocol ModelClass: ManagedObjectClass {
        /// The entity and the properties of the class.
        static var modelDescription: ModelDescription { get }
    }

    extension ModelClass {
        /// The entity of the class.
        public static var entityName: EntityName { modelDescription.entityName }

        /// The properties that the class has, inherited ones first.
        public static var shape: ClassShape {
            ClassShape(entityName, properties: modelDescription.allProperties.map(\.shape))
        }

        /// Returns the name of the property at a key path, or nil if the key path is not a
        /// property.
        public static func propertyName(of keyPath: AnyKeyPath) -> String? {
            modelDescription.propertyName(of: keyPath)
        }
    }
#endif
