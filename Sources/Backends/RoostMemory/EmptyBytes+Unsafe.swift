enum EmptyBytes {
    static var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
