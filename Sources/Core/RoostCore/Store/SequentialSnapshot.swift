/// A snapshot that reads its records and links from one text, from beginning to end.
///
/// Reading a list, or a part of it, also reads all content before it. To read everything, read
/// whole lists, in the order of roots and relationships, on one thread.
package protocol SequentialSnapshot: StoreSnapshot {}
